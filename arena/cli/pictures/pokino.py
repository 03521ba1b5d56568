"""The picture of Pokino."""

from collections.abc import Sequence
from typing import Any

from arena.cli.pictures.board import SEATS, board
from arena.cli.pictures.words import by_seat, columns, hand
from referee.games.pokino.state import PokinoState


class PokinoPicture:
    """Draws positions of Pokino; the whole game is one chapter."""

    def chapter(self, state: Any) -> int:
        """All is one deal."""
        return 0

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """The spoke and the hands."""
        assert isinstance(state, PokinoState)
        head = f"{names[state.turn]} begins · deck {hand(state.deck[:1])}"
        return [head, *columns(_hands(state, names)), *board(state.layout, _is_owned(state))]

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """How it ended."""
        assert isinstance(state, PokinoState)
        how = ""
        if state.pokino:
            how = f"{names[state.turn]} calls Pokino! · "
        elif state.over:
            how = "the poke is empty · " if not state.poke else "everybody passed · "
        return [f"  = {how}score {by_seat(state.scores)}"]

    def table(self, state: Any) -> list[str]:
        """The dominoes and tokens."""
        assert isinstance(state, PokinoState)
        return board(state.layout, _is_owned(state))

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """Score and hands, the board, the runs, deck and poke."""
        assert isinstance(state, PokinoState)
        whose = "the game is over" if state.over else f"{names[state.turn]} to act"
        lines = [f"{whose} · score {by_seat(state.scores)} · beads {by_seat(state.beads)}"]
        lines += columns(_hands(state, names))
        lines += board(state.layout, _is_owned(state))
        for seat, name in enumerate(names):
            runs = [hand(run.cards) for run in state.runs if run.seat == seat]
            if runs:
                lines.append(f"  {name} played {' · '.join(runs)}")
        if state.removed:
            lines.append(f"  removed: {hand(state.removed)}")
        deck = f"  deck {len(state.deck)}: {hand(state.deck[:12])}" + " …" * (len(state.deck) > 12)
        return [*lines, f"{deck} · poke {len(state.poke)}"]


def _is_owned(state: PokinoState) -> bool:
    return state.variants.territory


def _hands(state: PokinoState, names: Sequence[str]) -> list[list[str]]:
    marks = [f"{seat} " if _is_owned(state) else "" for seat in SEATS]
    return [
        [f"  {mark}{name}", hand(dominoes), hand(cards)]
        for mark, name, cards, dominoes in zip(
            marks, names, state.hands, state.dominoes, strict=False
        )
    ]

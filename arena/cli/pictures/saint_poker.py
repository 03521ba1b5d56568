"""Draw positions of Saint Poker as text."""

from collections.abc import Sequence
from typing import Any

from arena.cli.pictures.wording import by_seat, columns, hand
from referee.games.saint_poker.state import SaintPokerState


class SaintPokerPicture:
    """Draws positions of Saint Poker; a chapter is a round."""

    def chapter(self, state: Any) -> int:
        """Return the number of the round, from 0."""
        assert isinstance(state, SaintPokerState)
        return len(state.rounds)

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return the river and the hands."""
        assert isinstance(state, SaintPokerState)
        river = f"river {hand(state.river)} · future {hand(state.future)}"
        return [f"round {state.round} · {river}", *columns(_hands(state, names))]

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Return the seat with the best hand, and the score."""
        assert isinstance(state, SaintPokerState)
        over = chapter < len(state.rounds)
        order = state.rounds[chapter].order if over else state.order
        if not order:
            return []
        winner = names[order[0]]
        return [f"  = {winner} wins round {chapter + 1} · score {by_seat(state.points)}"]

    def table(self, state: Any) -> list[str]:
        """Return nothing: the actions describe the table completely."""
        return []

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return the river, the hands, the cards shown and picked up, and the stock."""
        assert isinstance(state, SaintPokerState)
        rows = _hands(state, names)
        if state.shown:
            rows = [[*row, f"showed {hand(state.shown[seat])}"] for seat, row in enumerate(rows)]
        lines = [f"round {state.round} · score {by_seat(state.points)}", *columns(rows)]
        lines.append(f"  river {hand(state.river)} · future {hand(state.future)}")
        if state.order:
            lines.append(f"  best to worst: {', '.join(names[seat] for seat in state.order)}")
            lines.append(f"  on the table: {hand(state.lying)}")
        return [*lines, f"  stock: {hand(state.stock)}"]


def _hands(state: SaintPokerState, names: Sequence[str]) -> list[list[str]]:
    return [[f"  {name}", hand(cards)] for name, cards in zip(names, state.hands, strict=True)]

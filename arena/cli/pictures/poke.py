"""Draw positions of Poke as text."""

from collections.abc import Sequence
from typing import Any

from arena.cli.pictures.wording import by_seat, columns, hand
from referee.games.poke.actions import PokeTrick
from referee.games.poke.state import PokeState

_DOUBLED = {1: "", 2: "doubled", 4: "redoubled"}


class PokePicture:
    """Draws positions of Poke; a chapter is a deal."""

    def chapter(self, state: Any) -> int:
        """Return the number of the deal; once the rubber is over, of the last one."""
        assert isinstance(state, PokeState)
        return len(state.deals) - (state.phase == "over")

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return the dealer and the hands."""
        assert isinstance(state, PokeState)
        rows = [[f"  {name}", hand(cards)] for name, cards in zip(names, state.hands, strict=True)]
        return [f"deal {len(state.deals)} · {names[state.dealer]} deals", *columns(rows)]

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Return the scores of the deal and of the rubber."""
        assert isinstance(state, PokeState)
        if chapter >= len(state.deals):
            return []
        deal = state.deals[chapter]
        gave = " · ".join(
            f"{name} +{deal.below[seat]} below" + f" +{deal.above[seat]}" * bool(deal.above[seat])
            for seat, name in enumerate(names)
        )
        return [f"  = {gave} · {_standing(state)}"]

    def table(self, state: Any) -> list[str]:
        """Return nothing: the actions describe the table completely."""
        return []

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return the rubber, the hands, the tricks and the stock."""
        assert isinstance(state, PokeState)
        if state.phase == "over":
            return [f"the rubber is over · {_standing(state)}"]
        rows = [
            [f"  {name}", hand(cards), f"out: {hand(laid)}", _DOUBLED[multiplier]]
            for name, cards, laid, multiplier in zip(
                names, state.hands, state.discards, state.multipliers, strict=True
            )
        ]
        lines = [
            f"deal {len(state.deals)} · {names[state.dealer]} deals · {_standing(state)}",
            *columns(rows),
            *(f"  {_trick(trick, names)}" for trick in state.tricks),
        ]
        if state.led:
            lines.append(f"  {names[1 - state.turn]} led {hand(state.led)}")
        return [*lines, f"  stock: {hand(state.stock)}"]


def _standing(state: PokeState) -> str:
    return f"score {by_seat(state.above)}, below {by_seat(state.below)}, legs {by_seat(state.legs)}"


def _trick(trick: PokeTrick, names: Sequence[str]) -> str:
    leader, other = names[trick.leader], names[1 - trick.leader]
    return (
        f"{leader} led {hand(trick.lead)}, {other} answered {hand(trick.answer)}: "
        f"{names[trick.winner]} won {len(trick.lead)}"
    )

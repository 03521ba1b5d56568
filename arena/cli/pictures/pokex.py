"""Draw positions of Pokex as text."""

from collections.abc import Sequence
from typing import Any

from arena.cli.pictures.wording import by_seat, columns, hand
from referee.games.pokex.actions import Pair, PokexDeal, PokexTrick
from referee.games.pokex.state import PokexState

Names = Sequence[str]


class PokexPicture:
    """Draws positions of Pokex; a chapter is a deal."""

    def chapter(self, state: Any) -> int:
        """Return the number of the deal; once the game is over, of the last one."""
        assert isinstance(state, PokexState)
        return len(state.deals) - (state.phase == "over")

    def opening(self, state: Any, names: Names) -> list[str]:
        """Return the dealer, the centre and the hands."""
        assert isinstance(state, PokexState)
        head = (
            f"deal {len(state.deals)} · {names[state.dealer]} deals · centre {hand(state.centre)}"
        )
        return [head, *columns(_hands(state, names))]

    def closing(self, state: Any, chapter: int, names: Names) -> list[str]:
        """Return the bid, the tricks taken and the score."""
        assert isinstance(state, PokexState)
        if chapter >= len(state.deals):
            return []
        deal = state.deals[chapter]
        gave = " · ".join(
            f"{side(number, names)} took {deal.taken[number]} +{deal.points[number]}"
            for number in (0, 1)
        )
        points = [sum(d.points[n] for d in state.deals[: chapter + 1]) for n in (0, 1)]
        return [f"  = {_bid(deal, names)} · {gave} · score {by_seat(points)}"]

    def table(self, state: Any) -> list[str]:
        """Return nothing: the actions describe the table completely."""
        return []

    def position(self, state: Any, names: Names) -> list[str]:
        """Return the hands, the auction, the tricks and the remaining centre cards."""
        assert isinstance(state, PokexState)
        lines = [
            f"deal {self.chapter(state)} · {names[state.dealer]} deals · "
            f"score {by_seat(state.points)}",
            *columns(_hands(state, names)),
            f"  auction: {_auction(state, names)}",
        ]
        if state.row:
            lines.append(f"  {_bid(state, names)} · tricks {by_seat(state.taken)}")
        lines += [f"  {n}: {_trick(one, names)}" for n, one in enumerate(state.tricks, 1)]
        if state.turned:
            now = PokexTrick(state.turned, state.played, (0, 0))
            lines.append(f"  {len(state.tricks) + 1}: {_cards(now, names)}")
        lines.append(f"  centre to come: {hand(_to_come(state))}")
        return lines + [f"  set aside: {hand(state.aside)}"] * bool(state.aside)


def side(number: int, names: Names) -> str:
    """Return the names of a side."""
    return " and ".join(names[number::2])


def _hands(state: PokexState, names: Names) -> list[list[str]]:
    return [[f"  {name}", hand(cards)] for name, cards in zip(names, state.hands, strict=True)]


def _to_come(state: PokexState) -> Sequence[str]:
    """Return the centre cards that are not yet in a trick, in their order if it is fixed."""
    met = len(state.centre) // 6 * len(state.tricks) + len(state.turned)
    return (state.row or state.centre)[met:]


def _auction(state: PokexState, names: Names) -> str:
    calls = (f"{names[call.seat]} {call.tricks or 'passes'}" for call in state.auction)
    return ", ".join(calls) or "–"


def _bid(deal: PokexDeal | PokexState, names: Names) -> str:
    if not deal.bid:
        return "all passed, jokers wild"
    return f"{names[deal.declarer]} bid {deal.bid}, {deal.wild_rank} wild"


def _cards(trick: PokexTrick, names: Names) -> str:
    """Return the cards of a trick: those of the centre and of each seat."""
    by_name: dict[str, list[str]] = {}
    for one in trick.played:
        by_name.setdefault(names[one.seat], []).extend(one.cards)
    said = [f"{name} {hand(cards)}" for name, cards in by_name.items()]
    return " · ".join([f"centre {hand(trick.centre)}", *said])


def _trick(trick: PokexTrick, names: Names) -> str:
    return f"{_cards(trick, names)} → {_taker(trick.taken, names)}"


def _taker(taken: Pair, names: Names) -> str:
    return side(taken.index(1), names) if any(taken) else "nobody"

"""Draw positions of Pouku as text."""

from collections.abc import Iterable, Sequence
from typing import Any

from arena.cli.pictures.wording import columns, hand
from referee.games.pouku.actions import PoukuDeal, PoukuTurn
from referee.games.pouku.state import PoukuState

Names = Sequence[str]


class PoukuPicture:
    """Draws positions of Pouku; a chapter is a deal."""

    def chapter(self, state: Any) -> int:
        """Return the number of the deal; once the game is over, of the last one."""
        assert isinstance(state, PoukuState)
        return len(state.deals) - state.over

    def opening(self, state: Any, names: Names) -> list[str]:
        """Return the dealer, the point card, the hands and the fields."""
        assert isinstance(state, PoukuState)
        head = f"deal {len(state.deals)} · {names[state.dealer]} deals"
        return [f"{head} · point card {state.point_card}", *columns(_seats(state, names))]

    def closing(self, state: Any, chapter: int, names: Names) -> list[str]:
        """Return the result of the deal and the score."""
        assert isinstance(state, PoukuState)
        if chapter >= len(state.deals):
            return []
        played = (deal.points for deal in state.deals[: chapter + 1])
        totals = _totals(sum(points) for points in zip(*played, strict=True))
        return [f"  = {_end(state.deals[chapter], names)} · score {totals}"]

    def table(self, state: Any) -> list[str]:
        """Return nothing: the actions describe the table completely."""
        return []

    def position(self, state: Any, names: Names) -> list[str]:
        """Return the hands, fields and keeps, the value of going out, and each seat's payment."""
        assert isinstance(state, PoukuState)
        lines = [
            f"deal {self.chapter(state)} · {names[state.dealer]} deals · "
            f"point card {state.point_card} · score {_totals(state.totals)}",
            *columns(_seats(state, names)),
        ]
        if not state.over:
            lines.append(f"  turn: {names[state.turn]}, drew {state.drawn}, {_worth(state)}")
        pays = ", ".join(f"{name} {state.pays(seat)}" for seat, name in enumerate(names))
        lines.append(f"  would pay: {pays}")
        if state.turns:
            lines.append(f"  last: {_turn(state.turns[-1], names)}")
        return [*lines, f"  stock {len(state.stock)}: {hand(state.stock)}"]


def _totals(totals: Iterable[int]) -> str:
    """Return a number for each seat, separated by slashes because numbers may be negative."""
    return " / ".join(map(str, totals))


def _seats(state: PoukuState, names: Names) -> list[list[str]]:
    """Return one row per seat: its hand, its field, its keeps."""
    rows = zip(names, state.hands, state.fields, state.kept, strict=True)
    return [
        [
            f"  {name}",
            hand(cards),
            f"field {hand(field)}",
            f"kept {hand(kept)}" if kept else "",
        ]
        for name, cards, field, kept in rows
    ]


def _worth(state: PoukuState) -> str:
    """Return the value of going out for the seat to act."""
    offer = state.offer(state.turn)
    if not offer.reaches(state.needed):
        return f"cannot go out (best {offer.worth()}, needs {state.needed})"
    return f"may go out for {state.scored(state.turn)[1]}"


def _turn(turn: PoukuTurn, names: Names) -> str:
    kept = f"kept {hand(turn.keep)}, " if turn.keep else ""
    to = "" if turn.field == turn.seat else f" to {names[turn.field]}"
    return f"{names[turn.seat]} {kept}discarded {turn.discard}{to}"


def _end(deal: PoukuDeal, names: Names) -> str:
    """Return the result of a deal: the yaku, and the points of each seat."""
    if deal.void:
        return "the stock is empty: nobody scores"
    yaku = ", ".join(f"{one.name} {hand(one.cards)} {one.worth}" for one in deal.yaku)
    more = deal.worth - sum(one.worth for one in deal.yaku)
    besides = f", points and bonuses {more}" if more else ""
    doubled = ", doubled" if deal.points[deal.winner] > deal.worth else ""
    got = " · ".join(f"{name} {points:+}" for name, points in zip(names, deal.points, strict=True))
    return (
        f"{names[deal.winner]} goes out with {yaku or 'no yaku'}{besides} "
        f"(worth {deal.worth}{doubled}) · {got}"
    )

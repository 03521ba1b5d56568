"""Render and encode Pouku: fields and keeps, the point card, the results of deals."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from arena.presentation.elements import (
    FRESH,
    POINT,
    Badge,
    Cards,
    Face,
    Lines,
    Pad,
    Row,
    Scene,
    Secret,
    Table,
    signed,
)
from arena.presentation.games.encoding import Encoding, Groups, Numbers, Vector, squashed
from referee.cards import RANK, Card
from referee.games.contract import Action
from referee.games.pouku.actions import Give, GoOut, Hand, PoukuDeal, PoukuView
from referee.games.pouku.keeping import LISTED

# Encoding for reinforcement learning.


HAND = 4
NO_KEEP = 1
KEEPS = 2
DISCARDS = KEEPS + LISTED
RANKS = 13
KEEP = RANKS + HAND
"""Length of an encoded keep: the number of cards of each rank, and the seat's own card's position.
"""


class PoukuEncoding(Encoding):
    """Encodes an action in two steps.

    1. Go out (0), keep nothing (1), or make one of the listed keeps.
    2. The position in the hand of the card to discard or to give.

    Keeps are numbered by a list because too many sets of cards are possible; the observation
    contains the listed keeps.
    """

    game = "pouku"
    size = DISCARDS + 2 * HAND

    def groups(self, view: PoukuView, actions: Sequence[Action]) -> Groups:
        keeps = [keep for keep in dict.fromkeys(map(_keep, actions)) if keep]
        numbers: Mapping[Hand, int] = {(): NO_KEEP, **{k: KEEPS + n for n, k in enumerate(keeps)}}
        found: dict[int, list[Action]] = {}
        for action in actions:
            number = 0 if isinstance(action, GoOut) else numbers[action.keep]
            found.setdefault(number, []).append(action)
        if len(found) != 1:
            return found
        return {_discard(action, view.hand): (action,) for action in actions}

    def observe(self, view: PoukuView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.places(view.hand, HAND)
        vector.places((view.drawn,), 1)
        vector.places((view.point_card,), 1)
        vector.numbers(view.may_keep, squashed(view.worth, 8), view.stock / 52)
        vector.numbers(view.deal / (2 * self.seats), squashed(len(view.turns), 10))
        for who in eyes:
            vector.numbers(view.dealer == who, view.turn == who, view.hand_sizes[who] / HAND)
            vector.numbers(squashed(view.scores[who], 20))
            vector.cards(view.fields[who].cards)
            vector.cards(view.kept[who].cards)
        listed = np.zeros((LISTED, KEEP), np.float32)
        for number, actions in groups.items():
            if KEEPS <= number < DISCARDS:
                listed[number - KEEPS] = _told(actions[0].keep, view.hand)
        vector.array(listed)
        chosen = [a.keep for number, (a, *_) in groups.items() if number >= DISCARDS]
        vector.array(_told(chosen[0] if chosen else (), view.hand))
        return vector.done()


def _keep(action: Action) -> Hand:
    return () if isinstance(action, GoOut) else action.keep


def _discard(action: Action, hand: Hand) -> int:
    return DISCARDS + hand.index(action.card) + HAND * isinstance(action, Give)


def _told(keep: Hand, hand: Hand) -> Numbers:
    row = np.zeros(KEEP, np.float32)
    for card in keep:
        row[RANK[card] - 2] += 1 / 4
        if card in hand:
            row[RANKS + hand.index(card)] = 1
    return row


_DEALS = 2
"""Number of deals per seat."""


def pouku(public: PoukuView, hands: Mapping[int, PoukuView], table: Table) -> Scene:
    """Return the scene of a position; a chapter is a deal."""
    seats = range(len(table.names))
    deals = _DEALS * len(table.names)
    over = public.deal == deals
    chapter = public.deal - over
    asked = "the game is over" if over else f"{table.names[public.turn]} has drawn"
    point = Cards((Face(public.point_card, (POINT,)),))
    return Scene(
        chapter=chapter,
        heading=f"Deal {chapter + 1} of {deals} · {asked}",
        facts=() if over else (f"{public.stock} cards in the stock",),
        seats=tuple(
            table.seat(seat, _badges(public, seat, over), _areas(public, hands, seat, over))
            for seat in seats
        ),
        centre=(
            _ended(public, table),
            Row("point", "point card", Cards() if over else point),
        ),
        below=(_pad(public, table),),
    )


def _badges(public: PoukuView, seat: int, over: bool) -> list[Badge]:
    return [Badge("dealer", "plain")] if seat == public.dealer and not over else []


def _lay(public: PoukuView, cards: Iterable[Card], *fresh: str) -> tuple[Face, ...]:
    """Return cards face up with marks on fresh cards and on the point card's rank."""
    rank = public.point_card[0]
    return tuple(
        Face(card, (POINT,) * (card[0] == rank) + (FRESH,) * (card in fresh)) for card in cards
    )


def _areas(
    public: PoukuView, hands: Mapping[int, PoukuView], seat: int, over: bool
) -> list[Row | Secret]:
    if over:
        return []
    own = hands.get(seat)
    opened = None
    if own is not None:
        note = f"may go out for {own.worth}" if own.worth else ""
        opened = Cards(_lay(public, own.hand, own.drawn), note=note)
    last = public.turns[-1] if public.turns else None
    laid = (last.discard,) if last and last.field == seat else ()
    kept = last.keep if last and last.seat == seat else ()
    return [
        Secret("hand", "hand", seat, opened, Cards(backs=public.hand_sizes[seat])),
        Row("field", "field", Cards(_lay(public, public.fields[seat].cards, *laid))),
        Row("kept", "kept", Cards(_lay(public, public.kept[seat].cards, *kept))),
    ]


def _ended(public: PoukuView, table: Table) -> Lines:
    """Return the previous deal until the first action of the current one."""
    over = public.deal == _DEALS * len(table.names)
    if not public.deals or (public.turns and not over):
        return Lines("ended", "", ())
    deal = public.deals[-1]
    label = f"how deal {public.deal} ended"
    if deal.void:
        return Lines("ended", label, (), "The stock was empty: nobody scores or pays.")
    rank = deal.point_card[0]
    rows = [
        (
            f"{yaku.name} {yaku.worth}",
            Cards(tuple(Face(c, (POINT,) * (c[0] == rank)) for c in yaku.cards)),
        )
        for yaku in deal.yaku
    ]
    rows.append(("point card", Cards((Face(deal.point_card, (POINT,)),))))
    return Lines("ended", label, tuple(rows), _gave(deal, table))


def _gave(deal: PoukuDeal, table: Table) -> str:
    """Return who went out, the value of the hand, and the points of each seat as text."""
    more = deal.worth - sum(yaku.worth for yaku in deal.yaku)
    besides = f", {more} of it for points and bonuses" if more else ""
    doubled = ", doubled" if deal.points[deal.winner] > deal.worth else ""
    got = " · ".join(
        f"{name} {signed(points)}" for name, points in zip(table.names, deal.points, strict=True)
    )
    return f"{table.names[deal.winner]} went out, worth {deal.worth}{besides}{doubled}. {got}"


def _pad(public: PoukuView, table: Table) -> Pad:
    """Return the points of each seat, one row per deal."""
    rows = tuple(
        (str(number), _winner(deal, table), *map(signed, deal.points))
        for number, deal in enumerate(public.deals, public.deal - len(public.deals) + 1)
    )
    foot = ("score", "", *map(signed, public.scores))
    return Pad("pad", "score", ("deal", "went out", *table.names), rows, (foot,))


def _winner(deal: PoukuDeal, table: Table) -> str:
    return "void" if deal.void else f"{table.names[deal.winner]} {deal.worth}"

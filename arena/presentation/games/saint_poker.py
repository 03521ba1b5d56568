"""Render and encode Saint Poker: the river, cards shown and picked up, the rounds."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from arena.presentation.elements import (
    FRESH,
    GONE,
    KNOWN,
    WON,
    Badge,
    Cards,
    Face,
    Pad,
    Row,
    Scene,
    Secret,
    Table,
    faces,
    shown,
)
from arena.presentation.games.encoding import Encoding, Groups, Numbers, Vector, alone, places
from arena.presentation.games.hand_names import category
from referee.cards import Card, in_order
from referee.games.contract import Action
from referee.games.saint_poker.actions import River, SaintPokerView, Show
from referee.games.saint_poker.state import FUTURE, ROUNDS
from referee.poker import best_hand

# Encoding for reinforcement learning.


HAND = 10
RIVER = 5
PHASES = ("river", "show", "pick_up", "over")
PAIRS = {pair: number for number, pair in enumerate(combinations(range(HAND), 2))}
POINTS = ROUNDS * (ROUNDS + 1) // 2


class SaintPokerEncoding(Encoding):
    """Encodes an action as a position or a pair of positions.

    In order: the positions of the hand, for the river; the pairs of positions, to show; the
    positions of the cards on the table in canonical order, to pick up.
    """

    game = "saint_poker"

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.lying = RIVER + 2 * seats
        self.size = HAND + len(PAIRS) + self.lying

    def groups(self, view: SaintPokerView, actions: Sequence[Action]) -> Groups:
        lying = _lying(view)
        return alone({_number(action, view.hand, lying): action for action in actions})

    def observe(self, view: SaintPokerView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.one_of(view.round - 1, ROUNDS)
        vector.word(view.phase, PHASES)
        vector.places(view.hand, HAND)
        vector.places(view.river, RIVER)
        vector.places(view.future, FUTURE[self.seats])
        vector.places(_lying(view) if view.phase == "pick_up" else (), self.lying)
        vector.cards(card for done in view.rounds for card in done.discards)
        for who in eyes:
            vector.numbers(view.scores[who] / POINTS, view.hand_sizes[who] / HAND)
            vector.cards(view.known[who].cards)
            vector.places(view.shown[who].cards if view.shown else (), 2)
            vector.numbers((view.order.index(who) + 1) / self.seats if view.order else 0)
            vector.numbers(sum(picked.seat == who for picked in view.picked) / 2)
        return vector.done()


def _lying(view: SaintPokerView) -> tuple[Card, ...]:
    """Return the cards on the table that have not been picked up."""
    gone = {picked.card for picked in view.picked}
    table = (*view.river, *(card for pair in view.shown for card in pair.cards))
    return in_order(card for card in table if card not in gone)


def _number(action: Action, hand: Sequence[str], lying: Sequence[str]) -> int:
    match action:
        case River(card):
            return hand.index(card)
        case Show(cards):
            one, other = places(cards, hand)
            return HAND + PAIRS[one, other]
    return HAND + len(PAIRS) + lying.index(action.card)


_ASKED = {
    "river": "a card each for the river",
    "show": "two cards each to show",
    "pick_up": "picking up, the worst hand first",
    "over": "the game is over",
}
_ORDINALS = ("best hand", "2nd", "3rd", "4th", "5th")


def saint_poker(public: SaintPokerView, hands: Mapping[int, SaintPokerView], table: Table) -> Scene:
    """Return the scene of a position; a chapter is a round."""
    gone = frozenset(picked.card for picked in public.picked)
    last = public.picked[-1].card if public.picked else ""
    future = (Row("future", "next river", shown(public.future)),) if public.future else ()
    return Scene(
        chapter=public.round - 1,
        heading=f"Round {public.round} of 8 · {_ASKED[public.phase]}",
        facts=(f"the round is worth {public.round}",),
        seats=tuple(
            table.seat(seat, _badges(public, seat), _areas(public, hands, seat, gone))
            for seat in range(len(table.names))
        ),
        centre=(Row("river", "river", Cards(_river(public, gone, last))), *future),
        below=(_pad(public, table),),
    )


def _river(public: SaintPokerView, gone: frozenset[Card], last: str) -> tuple[Face, ...]:
    """Return the river; cards added by the last action are marked."""
    turned = len(public.river) - len(public.hand_sizes) if public.phase == "show" else 99
    return tuple(
        Face(card, (GONE,) * (card in gone) + (FRESH,) * (n >= turned or card == last))
        for n, card in enumerate(public.river)
    )


def _badges(public: SaintPokerView, seat: int) -> list[Badge]:
    if not public.order:
        return []
    place = public.order.index(seat)
    return [Badge(_ORDINALS[place], "plain" if place else "good")]


def _areas(
    public: SaintPokerView,
    hands: Mapping[int, SaintPokerView],
    seat: int,
    gone: frozenset[Card],
) -> list[Row | Secret]:
    known, size = public.known[seat].cards, public.hand_sizes[seat]
    own = hands.get(seat)
    last = public.picked[-1].card if public.picked else ""
    opened = None if own is None else Cards(_marked(own.hand, known, last))
    closed = Cards(_marked(in_order(known), known, last), size - len(known))
    areas: list[Row | Secret] = [Secret("hand", "hand", seat, opened, closed)]
    areas.append(Row("shown", "shown", _shown(public, seat, gone)))
    return areas


def _shown(public: SaintPokerView, seat: int, gone: frozenset[Card]) -> Cards:
    if not public.shown:
        return Cards()
    pair = public.shown[seat].cards
    fresh = (FRESH,) if not public.picked else ()
    won = (WON,) if public.order and public.order[0] == seat else ()
    lying = tuple(Face(card, (*won, *fresh, *((GONE,) * (card in gone)))) for card in pair)
    return Cards(lying, note=category(best_hand((*public.river, *pair))))


def _marked(hand: tuple[Card, ...], known: tuple[Card, ...], last: str) -> tuple[Face, ...]:
    """Return a hand with marks on publicly picked-up cards and on the last of them."""
    return tuple(
        face
        for card in hand
        for face in faces((card,), *((KNOWN,) * (card in known) + (FRESH,) * (card == last)))
    )


def _pad(public: SaintPokerView, table: Table) -> Pad:
    """Return the rounds with their value and the seat of the best hand."""
    rows = []
    for number, done in enumerate(public.rounds, 1):
        rows.append(_row(number, done.order, len(table.names)))
    if public.order:
        rows.append(_row(public.round, public.order, len(table.names)))
    foot = ("score", *map(str, public.scores))
    return Pad("pad", "rounds", ("round", *table.names), tuple(rows), (foot,))


def _row(number: int, order: tuple[int, ...], seats: int) -> tuple[str, ...]:
    won = (f"+{number}" if order[0] == seat else "·" for seat in range(seats))
    return (str(number), *won)

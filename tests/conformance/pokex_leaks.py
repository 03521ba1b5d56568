"""Pokex with deliberate leaks, and incorrect ways to re-deal it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from referee.games.pokex import Pokex
from referee.games.shared.cards import DECK_WITH_JOKERS, JOKERS, Card, in_order
from referee.games.shared.dealing import Chance
from tests.conformance.leaks import Leak, Look, Reordered

Hand = tuple[Card, ...]


def partner(state: Any, seat: int) -> Hand:
    hand: Hand = state.hands[(seat + state.seats // 2) % state.seats]
    return hand


def next_hand(state: Any, seat: int) -> Hand:
    hand: Hand = state.hands[(seat + 1) % state.seats]
    return hand


def most(hand: Hand) -> str:
    ranks = Counter(c[0] for c in hand if c not in JOKERS)
    return max(sorted(ranks), key=ranks.__getitem__, default="")


def place(cards: Hand) -> int:
    """Return the index of the first card in the pack; 0 without cards."""
    return DECK_WITH_JOKERS.index(cards[0]) if cards else 0


def to_come(state: Any, seat: int) -> Hand:
    """Return the next cards to be turned up (two seats), or the next seat's hand (four seats)."""
    if state.seats == 2 and state.row:
        rest: Hand = state.row[2 * len(state.tricks) + 2 :]
        return rest
    return next_hand(state, seat)


def pokex_leaks() -> Iterator[Leak]:
    def leak(name: str, view: Look | None = None, legal: Look | None = None) -> Leak:
        return Leak(Pokex(), name, view, legal)

    yield leak(
        "the partner's lowest card in the points",
        lambda s, seat, v: replace(v, points=(v.points[0], place(partner(s, seat)))),
    )
    yield leak(
        "who holds a joker as the declarer",
        lambda s, seat, v: replace(
            v, declarer=next((n for n, hand in enumerate(s.hands) if "X1" in hand), 0)
        ),
    )
    yield leak(
        "the rank that the next seat would name",
        lambda s, seat, v: replace(v, wild_rank=v.wild_rank or most(next_hand(s, seat))),
    )
    yield leak(
        "the first card of the next deal in the number of the deal",
        lambda s, seat, v: replace(
            v, deal=place(s.luck.shuffled("deck", len(s.deals) + 1, DECK_WITH_JOKERS))
        ),
    )
    yield leak(
        "the centre in an order that reveals the next cards",
        lambda s, seat, v: replace(v, centre=v.centre[:: 1 if place(to_come(s, seat)) % 2 else -1]),
    )
    yield leak(
        "a card that is not turned up yet among those that are",
        lambda s, seat, v: replace(v, turned=v.turned + to_come(s, seat)[:1]),
    )
    yield leak(
        "a card that was set aside in one's own hand",
        lambda s, seat, v: replace(v, hand=v.hand + (s.aside or next_hand(s, seat))[:1]),
    )
    yield leak(
        "how many wild cards the others hold in the tricks taken",
        lambda s, seat, v: replace(v, taken=(v.taken[0], len(wild(s, next_hand(s, seat))))),
    )
    yield leak(
        "legal actions in an order that reveals the next hand",
        legal=lambda s, seat, right: Reordered(right, place(next_hand(s, seat)) % 2 == 1),
    )


def wild(state: Any, hand: Hand) -> list[Card]:
    return [c for c in hand if c in JOKERS or c[0] == state.wild_rank]


POKEX_LEAKS = tuple(pokex_leaks())

Dealer = Callable[[Any, int, Chance], Any]


def with_hand(state: Any, seat: int, hand: Hand) -> Any:
    hands = tuple(hand if s == seat else held for s, held in enumerate(state.hands))
    return state.but(hands=hands)


def deals_a_card_to_two(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    mine, theirs = dealt.hands[seat], next_hand(dealt, seat)
    other = (seat + 1) % dealt.seats
    return with_hand(dealt, other, (*theirs[1:], *mine[:1])) if mine and theirs else dealt


def deals_one_card_less(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    return with_hand(dealt, (seat + 1) % dealt.seats, next_hand(dealt, seat)[1:])


def deals_the_whole_pack(state: Any, seat: int, luck: Chance) -> Any:
    """Deal from the whole pack, known cards included."""
    pool = luck.shuffled("redeal", 0, DECK_WITH_JOKERS)
    dealt = state.but(luck=luck)
    for other in range(state.seats):
        size = len(state.hands[other])
        if other != seat:
            dealt, pool = with_hand(dealt, other, in_order(pool[:size])), pool[size:]
    return dealt


def gives_to_the_centre(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    theirs = next_hand(dealt, seat)
    if not theirs:
        return dealt
    changed = (*dealt.centre[:-1], theirs[0])
    row = tuple(theirs[0] if c == dealt.centre[-1] else c for c in dealt.row)
    other = (seat + 1) % dealt.seats
    hand = in_order((*theirs[1:], dealt.centre[-1]))
    return with_hand(dealt, other, hand).but(centre=changed, row=row)


def leaves_all_hands(state: Any, seat: int, luck: Chance) -> Any:
    """Keep all hands and re-deal the rest."""
    return state.redeal(seat, luck).but(hands=state.hands)


def leaves_the_partner(state: Any, seat: int, luck: Chance) -> Any:
    """Keep the partner's hand (with two seats the opponent's)."""
    other = (seat + state.seats // 2) % state.seats
    return with_hand(state.redeal(seat, luck), other, state.hands[other])


def leaves_the_row(state: Any, seat: int, luck: Chance) -> Any:
    """Keep the cards that are turned up later."""
    return state.redeal(seat, luck).but(row=state.row)


POKEX_FALSE: tuple[Dealer, ...] = (
    deals_a_card_to_two,
    deals_one_card_less,
    deals_the_whole_pack,
    gives_to_the_centre,
)
POKEX_LAZY: tuple[Dealer, ...] = (leaves_all_hands, leaves_the_partner)
POKEX_LAZY_OF_TWO: tuple[Dealer, ...] = (leaves_the_row,)
"""Re-dealing that keeps too much, at tables of two seats."""

"""Incorrect ways to re-deal a position, which the suite must detect."""

from typing import Any

from referee.games.shared.cards import DECK_WITH_JOKERS, Card, in_order
from referee.games.shared.dealing import Chance


def with_next_hand(state: Any, seat: int, hand: tuple[Card, ...]) -> Any:
    other = (seat + 1) % len(state.hands)
    return state.but(hands=(*state.hands[:other], hand, *state.hands[other + 1 :]))


def next_hand(state: Any, seat: int) -> tuple[Card, ...]:
    return tuple(state.hands[(seat + 1) % len(state.hands)])


def deals_a_card_twice(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    mine, theirs = dealt.hands[seat], next_hand(dealt, seat)
    return with_next_hand(dealt, seat, (*theirs[1:], *mine[:1])) if mine and theirs else dealt


def loses_a_card(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    return with_next_hand(dealt, seat, next_hand(dealt, seat)[1:])


def takes_what_was_played(state: Any, seat: int, luck: Chance) -> Any:
    """Deal from the whole pack, cards already played included."""
    pool = luck.shuffled("redeal", 0, DECK_WITH_JOKERS)
    hand = in_order(pool[: len(next_hand(state, seat))])
    return with_next_hand(state.but(luck=luck), seat, hand)


def deals_a_domino_twice(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(poke=(*dealt.dominoes[seat][:1], *dealt.poke[1:]))


def forgets_that_one_must_beat(state: Any, seat: int, luck: Chance) -> Any:
    """Deal the others cards that would have won a trick which they had to win."""
    return state.but(must_beat=False).redeal(seat, luck).but(must_beat=state.must_beat)


def changes_what_the_seat_holds(state: Any, seat: int, luck: Chance) -> Any:
    other = (seat + 1) % len(state.hands)
    return state.redeal(other, luck)


def forgets_what_was_picked_up(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal cards that are publicly known to be in the others' hands."""
    known = tuple(k if s == seat else () for s, k in enumerate(state.known))
    return state.but(known=known).redeal(seat, luck).but(known=state.known)


def leaves_everything(state: Any, seat: int, luck: Chance) -> Any:
    return state


def leaves_the_hands(state: Any, seat: int, luck: Chance) -> Any:
    """Keep all hands and re-deal the rest."""
    return state.redeal(seat, luck).but(hands=state.hands)


def leaves_the_dominoes(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal the cards alone."""
    return state.redeal(seat, luck).but(dominoes=state.dominoes, poke=state.poke)


def leaves_the_cards(state: Any, seat: int, luck: Chance) -> Any:
    """Change only the chance source."""
    return state.but(luck=luck)


def leaves_what_is_to_come(state: Any, seat: int, luck: Chance) -> Any:
    """Keep the chance source, which decides future events."""
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(luck=state.luck)

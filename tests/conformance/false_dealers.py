"""Incorrect ways to re-deal a position, which the suite must detect."""

from typing import Any

from referee.games.shared.cards import DECK, in_order
from referee.games.shared.dealing import Chance


def forgets_that_one_must_beat(state: Any, seat: int, luck: Chance) -> Any:
    """Deal the others cards that would have won a trick which they had to win."""
    return state.but(must_beat=False).redeal(seat, luck).but(must_beat=state.must_beat)


def deals_a_card_twice(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    held = [c for hand in dealt.hands for c in hand]
    return dealt.but(stock=(*dealt.stock[:-1], *held[:1]) if held else dealt.stock[1:])


def loses_a_card(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(stock=dealt.stock[1:])


def changes_what_the_seat_holds(state: Any, seat: int, luck: Chance) -> Any:
    other = (seat + 1) % len(state.hands)
    return state.redeal(other, luck)


def takes_what_was_played(state: Any, seat: int, luck: Chance) -> Any:
    """Deal from the whole pack, cards already played included."""
    pool = list(luck.shuffled("redeal", 0, DECK))
    sizes = [len(hand) for hand in state.hands]
    hands = [in_order(pool.pop() for _ in range(size)) for size in sizes]
    hands[seat] = state.hands[seat]
    return state.but(hands=tuple(hands), luck=luck)


def forgets_what_was_picked_up(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal cards that are publicly known to be in the others' hands."""
    known = tuple(k if s == seat else () for s, k in enumerate(state.known))
    return state.but(known=known).redeal(seat, luck).but(known=state.known)


def leaves_everything(state: Any, seat: int, luck: Chance) -> Any:
    return state


def leaves_the_hands(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal the stock alone."""
    return state.but(stock=luck.shuffled("redeal", 0, state.stock), luck=luck)


def leaves_the_cards(state: Any, seat: int, luck: Chance) -> Any:
    """Change only the chance source."""
    return state.but(luck=luck)


def leaves_what_is_to_come(state: Any, seat: int, luck: Chance) -> Any:
    """Keep the chance source, which decides future events."""
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(luck=state.luck)

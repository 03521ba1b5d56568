"""Playing cards, written as rank and suit: ``"AS"``, ``"TH"``, ``"2C"`` (rules README).

Jokers are ``"X1"`` and ``"X2"``.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NewType

from referee.games.shared.coded_errors import InvalidValue

Card = NewType("Card", str)
"""A playing card in the notation of the rules. Use :func:`card` for external input."""

Hand = tuple[Card, ...]
"""Cards of a hand, a meld or a trick."""

RANKS = "23456789TJQKA"
SUITS = "CDHS"

DECK: tuple[Card, ...] = tuple(Card(rank + suit) for rank in RANKS for suit in SUITS)
"""The 52 cards in canonical order: by rank from the twos up, then by suit: C, D, H, S."""

RANK: dict[Card, int] = {c: RANKS.index(c[0]) + 2 for c in DECK}
"""The rank of a card as a number, 2 to 14; the ace is 14."""

SUIT: dict[Card, int] = {c: SUITS.index(c[1]) for c in DECK}
"""The suit of a card as a number, 0 to 3."""

JOKERS: tuple[Card, ...] = (Card("X1"), Card("X2"))
"""The two jokers, without rank and suit."""

DECK_WITH_JOKERS: tuple[Card, ...] = (*DECK, *JOKERS)
"""The 54 cards in canonical order: :data:`DECK`, then the jokers."""

_ORDER: dict[Card, int] = {c: position for position, c in enumerate(DECK_WITH_JOKERS)}


def card(text: str, deck: Collection[Card] = DECK) -> Card:
    """Check that ``text`` names a card of the deck and return it.

    Raises:
        ValueError: the deck does not contain the card.
    """
    if text not in deck:
        joker = " or one of X1, X2" if JOKERS[0] in deck else ""
        sort = f"a rank of {RANKS} and a suit of {SUITS}{joker}"
        raise InvalidValue(f'"{text}" is not a card; a card is {sort}', code="not-a-card")
    return Card(text)


def cards(text: str, deck: Collection[Card] = DECK) -> tuple[Card, ...]:
    """Return the cards named in a blank-separated list: ``cards("AS KH TD")``.

    Raises:
        ValueError: the deck does not contain a card.
    """
    return tuple(card(word, deck) for word in text.split())


def in_order(hand: Iterable[Card]) -> tuple[Card, ...]:
    """Sort cards into canonical order: lowest first, jokers last."""
    return tuple(sorted(hand, key=_ORDER.__getitem__))


def deck_of(*groups: Iterable[Card], deck: Sequence[Card] = DECK) -> tuple[Card, ...]:
    """Build a whole deck that begins with the given groups of cards, to set up a game by hand.

    The remaining cards follow in the order of ``deck``.

    Raises:
        ValueError: a card is named twice or is not in the deck.
    """
    named = [card(c, deck) for group in groups for c in group]
    twice = next((c for c in named if named.count(c) > 1), None)
    if twice is not None:
        raise InvalidValue(
            f"{twice} is in the deck twice; a deck has every card once", code="card-twice"
        )
    taken = set(named)
    return (*named, *(c for c in deck if c not in taken))

"""Playing cards, written rank then suit: ``"AS"``, ``"TH"``, ``"2C"`` (rules README).

Jokers are ``"X1"`` and ``"X2"``.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NewType

Card = NewType("Card", str)
"""A playing card in the notation of the rules. Made by :func:`card` where it comes from outside."""

RANKS = "23456789TJQKA"
SUITS = "CDHS"

DECK: tuple[Card, ...] = tuple(Card(rank + suit) for rank in RANKS for suit in SUITS)
"""The 52 cards in canonical order: twos first, clubs before diamonds, hearts and spades."""

RANK: dict[Card, int] = {c: RANKS.index(c[0]) + 2 for c in DECK}
"""The rank of a card as a number, 2 to 14; the ace is 14."""

SUIT: dict[Card, int] = {c: SUITS.index(c[1]) for c in DECK}
"""The suit of a card as a number, 0 to 3."""

JOKERS: tuple[Card, ...] = (Card("X1"), Card("X2"))
"""The two jokers; they have neither rank nor suit."""

DECK_WITH_JOKERS: tuple[Card, ...] = (*DECK, *JOKERS)
"""The 54 cards in canonical order: the 52, then the jokers."""

_ORDER: dict[Card, int] = {c: position for position, c in enumerate(DECK_WITH_JOKERS)}


def card(text: str, deck: Collection[Card] = DECK) -> Card:
    """The card of the deck that ``text`` names.

    Raises:
        ValueError: it names none.
    """
    if text not in deck:
        joker = " or one of X1, X2" if JOKERS[0] in deck else ""
        sort = f"a rank of {RANKS} and a suit of {SUITS}{joker}"
        raise ValueError(f'"{text}" is no card; a card is {sort}')
    return Card(text)


def cards(text: str, deck: Collection[Card] = DECK) -> tuple[Card, ...]:
    """The cards that ``text`` names, with blanks between them: ``cards("AS KH TD")``."""
    return tuple(card(word, deck) for word in text.split())


def in_order(hand: Iterable[Card]) -> tuple[Card, ...]:
    """The cards in canonical order: the lowest first, jokers last."""
    return tuple(sorted(hand, key=_ORDER.__getitem__))


def deck_of(*groups: Iterable[Card], deck: Sequence[Card] = DECK) -> tuple[Card, ...]:
    """A whole deck that begins with the given groups of cards, for setting a game up by hand.

    The cards that are not named follow in canonical order.

    Raises:
        ValueError: a card is named twice, or is no card.
    """
    named = [card(c, deck) for group in groups for c in group]
    twice = next((c for c in named if named.count(c) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is in the deck twice; a deck has every card once")
    taken = set(named)
    return (*named, *(c for c in deck if c not in taken))

"""Dominoes of a double-12 set, written with the smaller number first: ``"3-12"`` (rules README)."""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import NewType

from referee.games.shared.coded_errors import InvalidValue

Tile = NewType("Tile", str)
"""A domino in the notation of the rules."""

HIGHEST = 12

DOMINOES: tuple[Tile, ...] = tuple(
    Tile(f"{low}-{high}") for low, high in combinations_with_replacement(range(HIGHEST + 1), 2)
)
"""The 91 dominoes in canonical order: ``0-0``, ``0-1``, ... ``0-12``, ``1-1``, ... ``12-12``."""

NUMBERS: dict[Tile, tuple[int, int]] = dict(
    zip(DOMINOES, combinations_with_replacement(range(HIGHEST + 1), 2), strict=True)
)
"""The two numbers of a domino, the smaller first."""

_ORDER: dict[Tile, int] = {domino: position for position, domino in enumerate(DOMINOES)}


def domino(text: str) -> Tile:
    """Check that ``text`` names a domino and return it.

    Raises:
        ValueError: ``text`` is not a domino of the set.
    """
    if text not in NUMBERS:
        raise InvalidValue(
            f'"{text}" is not a domino; a domino is two numbers from 0 to {HIGHEST}, '
            "the smaller first, as 3-12",
            code="not-a-domino",
        )
    return Tile(text)


def dominoes(text: str) -> tuple[Tile, ...]:
    """Return the dominoes named in a blank-separated list: ``dominoes("3-12 0-0")``.

    Raises:
        ValueError: a word is not a domino of the set.
    """
    return tuple(domino(word) for word in text.split())


def tiles_in_order(hand: Iterable[Tile]) -> tuple[Tile, ...]:
    """Sort dominoes into canonical order (:data:`DOMINOES`)."""
    return tuple(sorted(hand, key=_ORDER.__getitem__))


def pile_of(*groups: Iterable[Tile]) -> tuple[Tile, ...]:
    """Build a whole set that begins with the given groups, to set up a game by hand.

    The remaining dominoes follow in canonical order.

    Raises:
        ValueError: a domino is named twice or is not valid.
    """
    named = [domino(name) for group in groups for name in group]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise InvalidValue(
            f"{twice} is in the pile twice; a pile has every domino once", code="domino-twice"
        )
    taken = set(named)
    return (*named, *(name for name in DOMINOES if name not in taken))

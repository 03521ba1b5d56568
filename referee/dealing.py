"""Luck as data: everything chance decides follows from a seed, a purpose and a number.

The algorithm is written down in ``docs/dealing.md`` so that anyone can re-deal a game in any
language. What a bot plays can never shift it.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

T = TypeVar("T")

SEED_BYTES = 32
_WORD = 4
_WORDS = 1 << (8 * _WORD)


class Chance(Protocol):
    """Where a game's chance comes from."""

    def below(self, purpose: str, number: int, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, all equally likely."""

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """The things in an order, all orders equally likely."""


def derive(seed: bytes, purpose: str, number: int) -> bytes:
    """Another seed of 32 bytes that follows from ``seed``: the start of its stream."""
    return _stream(seed, purpose, number, SEED_BYTES)


def board_seed(match_seed: bytes, board: int) -> bytes:
    """The game seed of a board of a match, 32 bytes."""
    return derive(match_seed, "board", board)


def commitment(match_seed: bytes) -> str:
    """What is published of a match's seed before it is over: its SHA-256, in hexadecimal."""
    return hashlib.sha256(match_seed).hexdigest()


def _stream(seed: bytes, purpose: str, number: int, length: int) -> bytes:
    key = b"pokearena-1\0" + seed + purpose.encode() + b"\0" + number.to_bytes(8, "big")
    return hashlib.shake_256(key).digest(length)


def _words(seed: bytes, purpose: str, number: int) -> Iterator[int]:
    """The stream as 32-bit big-endian words, without end."""
    start, end = 0, 64
    while True:
        block = _stream(seed, purpose, number, end * _WORD)
        yield from struct.unpack(f">{end - start}I", block[start * _WORD :])
        start, end = end, 2 * end


def _below(words: Iterator[int], bound: int) -> int:
    """The next word that is below the greatest multiple of ``bound``, modulo ``bound``."""
    limit = _WORDS - _WORDS % bound
    while (word := next(words)) >= limit:
        pass
    return word % bound


@dataclass(frozen=True, slots=True)
class Seeded:
    """Luck that follows from a seed of 32 bytes."""

    seed: bytes

    def below(self, purpose: str, number: int, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, by rejection sampling."""
        return _below(_words(self.seed, purpose, number), bound)

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """The things shuffled by Fisher and Yates, from the last place down."""
        order = list(things)
        last = len(order) - 1
        if last < 1:
            return tuple(order)
        for word in _words(self.seed, purpose, number):
            chosen = word % (last + 1)
            if word - chosen > _WORDS - last - 1:
                continue  # as in _below, which would be called for every place
            order[last], order[chosen] = order[chosen], order[last]
            last -= 1
            if not last:
                break
        return tuple(order)


@dataclass(frozen=True)
class Arranged:
    """Luck arranged by hand where it is given, and seeded elsewhere.

    For tests, puzzles and teaching: ``Arranged(orders={("deck", 0): deck_of(...)})``.
    """

    numbers: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """What :meth:`below` gives for a (purpose, number)."""
    orders: Mapping[tuple[str, int], Sequence[object]] = field(default_factory=dict)
    """What :meth:`shuffled` gives for a (purpose, number)."""
    otherwise: Chance = field(default_factory=lambda: Seeded(bytes(SEED_BYTES)))
    """The luck of everything that is not arranged."""

    def below(self, purpose: str, number: int, bound: int) -> int:
        """The arranged number.

        Raises:
            ValueError: it is not below ``bound``.
        """
        given = self.numbers.get((purpose, number))
        if given is None:
            return self.otherwise.below(purpose, number, bound)
        if not 0 <= given < bound:
            raise ValueError(f"{purpose} {number} is {given}; it must be from 0 to {bound - 1}")
        return given

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """The arranged order.

        Raises:
            ValueError: it is not an order of exactly these things.
        """
        given = self.orders.get((purpose, number))
        if given is None:
            return self.otherwise.shuffled(purpose, number, things)
        known = {thing: thing for thing in things}
        twice = next((g for g in given if list(given).count(g) > 1), None)
        if twice is not None:
            raise ValueError(f"{purpose} {number} has {twice} twice; it must have everything once")
        if len(given) != len(things) or any(g not in known for g in given):
            raise ValueError(f"{purpose} {number} must have all of its {len(things)} things once")
        return tuple(known[thing] for thing in given)  # type: ignore[index]

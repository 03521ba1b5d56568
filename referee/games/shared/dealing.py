"""Derive all chance of a game from a seed, a purpose and a number.

``docs/reference/dealing.md`` specifies the algorithm, so a game can be dealt again in any language.
The actions of bots do not influence it.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mod
from typing import Protocol, TypeVar

from referee.games.shared.coded_errors import InvalidValue

T = TypeVar("T")

SEED_BYTES = 32
_WORD = 4
_WORDS = 1 << (8 * _WORD)


class Chance(Protocol):
    """Chance source of a game."""

    def below(self, purpose: str, number: int, bound: int) -> int:
        """Return a uniformly distributed whole number from 0 to ``bound`` - 1."""

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """Return the things in random order; all orders are equally likely."""


def derive(seed: bytes, purpose: str, number: int) -> bytes:
    """Derive another seed of 32 bytes: the start of the stream of ``seed``."""
    return _stream(seed, purpose, number, SEED_BYTES)


def board_seed(match_seed: bytes, board: int) -> bytes:
    """Derive the game seed of a board of a match, 32 bytes."""
    return derive(match_seed, "board", board)


def commitment(match_seed: bytes) -> str:
    """Return the commitment to a match's seed, published in advance: SHA-256 in hexadecimal."""
    return hashlib.sha256(match_seed).hexdigest()


def _stream(seed: bytes, purpose: str, number: int, length: int) -> bytes:
    key = b"pokearena-1\0" + seed + purpose.encode() + b"\0" + number.to_bytes(8, "big")
    return hashlib.shake_256(key).digest(length)


def _words(seed: bytes, purpose: str, number: int) -> Iterator[int]:
    """Yield the stream as 32-bit big-endian words, without end.

    SHAKE256 output of different lengths shares its prefix, so each round doubles the length and
    skips the words of earlier rounds.
    """
    start, end = 0, 64
    while True:
        block = _stream(seed, purpose, number, end * _WORD)
        yield from struct.unpack(f">{end - start}I", block[start * _WORD :])
        start, end = end, 2 * end


def _below(words: Iterator[int], bound: int) -> int:
    """Draw a number below ``bound`` without bias, by rejection sampling.

    Rejects words at or above the greatest multiple of ``bound``, then reduces modulo ``bound``.
    """
    limit = _WORDS - _WORDS % bound
    while (word := next(words)) >= limit:
        pass
    return word % bound


@dataclass(frozen=True, slots=True)
class Seeded:
    """Chance source that follows from a seed of 32 bytes."""

    seed: bytes

    def below(self, purpose: str, number: int, bound: int) -> int:
        """Return a number from 0 to ``bound`` - 1, by rejection sampling."""
        return _below(_words(self.seed, purpose, number), bound)

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """Shuffle by Fisher and Yates, from the last place down."""
        order = list(things)
        places = len(order) - 1
        if places < 1:
            return tuple(order)
        words = struct.unpack(f">{places}I", _stream(self.seed, purpose, number, places * _WORD))
        bounds = range(places + 1, 1, -1)
        if max(words) < _WORDS - places:  # below every limit of _below: no word is rejected
            drawn: Iterable[int] = map(mod, words, bounds)
        else:
            stream = _words(self.seed, purpose, number)
            drawn = (_below(stream, bound) for bound in bounds)
        for last, chosen in zip(range(places, 0, -1), drawn, strict=True):
            order[last], order[chosen] = order[chosen], order[last]
        return tuple(order)


@dataclass(frozen=True)
class Arranged:
    """Chance source with given values, and a fallback for all others.

    For tests, puzzles and teaching: ``Arranged(orders={("deck", 0): deck_of(...)})``.
    """

    numbers: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Results of :meth:`below` by (purpose, number)."""
    orders: Mapping[tuple[str, int], Sequence[object]] = field(default_factory=dict)
    """Results of :meth:`shuffled` by (purpose, number)."""
    otherwise: Chance = field(default_factory=lambda: Seeded(bytes(SEED_BYTES)))
    """Chance source of all other values."""

    def below(self, purpose: str, number: int, bound: int) -> int:
        """Return the given number, or one of the fallback.

        Raises:
            ValueError: the given number is not below ``bound``.
        """
        given = self.numbers.get((purpose, number))
        if given is None:
            return self.otherwise.below(purpose, number, bound)
        if not 0 <= given < bound:
            raise InvalidValue(
                f"{purpose} {number} is {given}; it must be from 0 to {bound - 1}",
                code="out-of-range",
            )
        return given

    def shuffled(self, purpose: str, number: int, things: Sequence[T]) -> tuple[T, ...]:
        """Return the given order, or one of the fallback.

        Raises:
            ValueError: the given order does not contain exactly these things.
        """
        given = self.orders.get((purpose, number))
        if given is None:
            return self.otherwise.shuffled(purpose, number, things)
        known = {thing: thing for thing in things}
        twice = next((g for g in given if list(given).count(g) > 1), None)
        if twice is not None:
            raise InvalidValue(
                f"{purpose} {number} has {twice} twice; it must have everything once",
                code="thing-twice",
            )
        if len(given) != len(things) or any(g not in known for g in given):
            raise InvalidValue(
                f"{purpose} {number} must have all of its {len(things)} things once",
                code="thing-missing",
            )
        return tuple(known[thing] for thing in given)  # type: ignore[index]

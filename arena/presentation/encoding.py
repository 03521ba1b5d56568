"""Encode a game's typed actions and views as numbers.

A decision is narrowed down in steps:

1. Sort the legal actions into numbered groups.
2. The agent chooses a group.
3. Repeat with the actions of the group until one action is left.

In most games every group contains one action, so that a decision takes one step. A step with a
single group of several actions is skipped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from referee.games.contract import Action, View
from referee.games.shared.cards import DECK_WITH_JOKERS, JOKERS, RANKS, SUITS, Card

# Observations are concatenated parts of numbers between -1 and 1.


Numbers = NDArray[np.float32]

FACE = len(RANKS) + len(SUITS) + 1
"""Length of an encoded card: its rank, its suit, and a flag for jokers; all 0: no card."""

_POSITION = {card: position for position, card in enumerate(DECK_WITH_JOKERS)}


def squashed(number: float, scale: float) -> float:
    """Map an unbounded number to the range from -1 to 1; ``scale`` becomes one half."""
    return number / (abs(number) + scale)


class Vector:
    """Builder of an observation."""

    def __init__(self) -> None:
        self._parts: list[Numbers] = []

    def numbers(self, *values: float) -> None:
        """Append numbers that already lie between -1 and 1."""
        self._parts.append(np.array(values, np.float32))

    def array(self, values: Numbers) -> None:
        """Append the elements of an array."""
        self._parts.append(values.ravel())

    def one_of(self, position: int | None, size: int) -> None:
        """Append a one-hot vector; only zeros for None."""
        row = np.zeros(size, np.float32)
        if position is not None:
            row[position] = 1
        self._parts.append(row)

    def word(self, word: str, words: Sequence[str]) -> None:
        """Append the one-hot index of a word in `words`; only zeros if it is absent."""
        self.one_of(words.index(word) if word in words else None, len(words))

    def cards(self, cards: Iterable[Card], size: int = 52) -> None:
        """Append a set of cards as a multi-hot vector in canonical order."""
        row = np.zeros(size, np.float32)
        row[[_POSITION[card] for card in cards]] = 1
        self._parts.append(row)

    def places(self, cards: Sequence[str], size: int) -> None:
        """Append cards at their positions, :data:`FACE` numbers for each position."""
        faces = np.zeros((size, FACE), np.float32)
        for place, card in enumerate(cards):
            faces[place] = _face(card)
        self._parts.append(faces.ravel())

    def done(self) -> Numbers:
        """Return the concatenated observation."""
        return np.concatenate(self._parts)


@cache
def _face(card: str) -> Numbers:
    face = np.zeros(FACE, np.float32)
    if card in JOKERS:
        face[-1] = 1
    elif card:
        face[RANKS.index(card[0])] = 1
        face[len(RANKS) + SUITS.index(card[1])] = 1
    return face


Groups = Mapping[int, Sequence[Action]]
"""The possible choices: the actions of each number; empty for a seat that is not to act."""


class Encoding(ABC):
    """Encoding of one form of a game, made only from a seat's view."""

    size: int
    """Number of group numbers: 0 to size - 1 represent groups of actions."""

    def __init__(self, seats: int) -> None:
        self.seats = seats

    @abstractmethod
    def groups(self, view: View, actions: Sequence[Action]) -> Groups:
        """Partition the remaining actions into numbered, non-empty groups."""

    @abstractmethod
    def observe(self, view: View, seat: int, groups: Groups) -> Numbers:
        """Return the observation of a seat; data by seat start with the seat itself."""

    def from_here(self, seat: int) -> tuple[int, ...]:
        """Return the seats in order, starting with this one."""
        return tuple((seat + step) % self.seats for step in range(self.seats))


def places(cards: Sequence[str], hand: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of cards in a hand, in ascending order."""
    return tuple(sorted(hand.index(card) for card in cards))


def alone(numbered: Mapping[int, Action]) -> Groups:
    """Return groups of one action each."""
    return {number: (action,) for number, action in numbered.items()}


class PlainEncoding(Encoding):
    """Encodes any game: its actions by their order in the list, its view field by field.

    More actions than numbers are split into groups of consecutive actions, and the chosen group is
    split again. An encoding made for the game trains better, because a number then has the same
    meaning in every position.

    Args:
        seats: the number of seats.
        view_type: the dataclass of the game's views.
    """

    size = 64

    def __init__(self, seats: int, view_type: type) -> None:
        super().__init__(seats)
        self._names = tuple(field.name for field in fields(view_type))

    def groups(self, view: View, actions: Sequence[Action]) -> Groups:
        groups: dict[int, list[Action]] = {}
        count = max(self.size, len(actions))
        for position, action in enumerate(actions):
            groups.setdefault(position * self.size // count, []).append(action)
        return groups

    def observe(self, view: View, seat: int, groups: Groups) -> Numbers:
        vector = Vector()
        vector.one_of(seat, self.seats)
        for name in self._names:
            vector.array(_block(getattr(view, name), FIELD))
        for number in range(self.size):
            vector.array(_block(groups.get(number, ())[:1], LISTED_ACTION))
        return vector.done()


FIELD = 32
"""Numbers of a field of a view in the plain encoding; the remainder of a longer one is omitted."""
LISTED_ACTION = 8
"""Numbers of a listed action in the plain encoding."""


def _block(value: object, length: int) -> Numbers:
    """Return the numbers of a value of the rules, padded with zeros."""
    block = np.zeros(length, np.float32)
    numbers = list(islice(_numbers(value), length))
    block[: len(numbers)] = numbers
    return block


def _numbers(value: object) -> Iterator[float]:
    """Yield numbers from -1 to 1 for a value of the rules; a text becomes a checksum."""
    if is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (int, float)):
        yield float(value) if isinstance(value, bool) else squashed(value, 8)
    elif isinstance(value, str) and value in DECK_WITH_JOKERS:
        yield (1 + DECK_WITH_JOKERS.index(Card(value))) / len(DECK_WITH_JOKERS)
    elif value:
        yield (crc32(str(value).encode()) % 255 - 127) / 127
    else:
        yield 0.0

"""Encode a game's typed actions and views as numbers.

A decision is taken in one step or several:

1. The encoding lists the legal numbers of the step (:class:`Choices`).
2. The agent chooses a number.
3. The number determines an action (:class:`Decision`), or the next step.

In most games every number is one action, so that a decision takes one step. A step with a single
number that leads to several actions is skipped.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, lru_cache
from itertools import islice
from math import prod
from typing import Final, TypeAlias, get_type_hints
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from referee.games.contract import Action, Bounds, Legal, View
from referee.games.shared.cards import DECK, DECK_WITH_JOKERS, JOKERS, RANKS, SUITS, Card

Numbers = NDArray[np.float32]

Buffer: TypeAlias = "array[float]"
"""The numbers of an observation while they are written: single-precision, initially 0.

Elements and short slices of an array of the standard library are assigned several times as fast as
those of a NumPy array. The finished buffer becomes a NumPy array without a copy.
"""

FACE = len(RANKS) + len(SUITS) + 1
"""Length of an encoded card: its rank, its suit, and a flag for jokers; all 0: no card."""

CARD_INDEX: Final[Mapping[str, int]] = {card: n for n, card in enumerate(DECK_WITH_JOKERS)}
"""Position of a card in a multi-hot set of cards."""
FIELD = 32
"""Numbers of a field of a view in the plain encoding; the remainder of a longer one is omitted."""
LISTED_ACTION = 8
"""Numbers of a listed action in the plain encoding."""


def _face(card: str) -> Buffer:
    face = array("f", bytes(4 * FACE))
    if card in JOKERS:
        face[-1] = 1
    elif card:
        face[RANKS.index(card[0])] = 1
        face[len(RANKS) + SUITS.index(card[1])] = 1
    return face


FACES: Final[Mapping[str, Buffer]] = {card: _face(card) for card in ("", *DECK_WITH_JOKERS)}
"""The numbers of a card at a position; "" stands for an empty position."""


@lru_cache(1 << 12)
def squashed(number: float, scale: float) -> float:
    """Map an unbounded number to the range from -1 to 1; ``scale`` becomes one half."""
    return number / (abs(number) + scale)


def write_places(buffer: Buffer, start: int, cards: Iterable[str]) -> None:
    """Write cards at their positions, :data:`FACE` numbers for each position."""
    for card in cards:
        buffer[start : start + FACE] = FACES[card]
        start += FACE


def write_set(buffer: Buffer, start: int, cards: Iterable[Card]) -> None:
    """Write a set of cards as a multi-hot vector in canonical order."""
    for card in cards:
        buffer[start + CARD_INDEX[card]] = 1


@dataclass(frozen=True, slots=True)
class ObservationField:
    """A field of an observation.

    Attributes:
        name: name of the field.
        meaning: description of the numbers.
        values: unit and range of the numbers.
        start: index of its first number.
        shape: shape of the numbers, in C order.
        scale: divisor of a ratio, or the number that becomes one half.
        group: the kind of the repetitions ("seat"), or "".
        repeats: number of repetitions.
        stride: distance between repetitions.
    """

    name: str
    meaning: str
    values: str
    start: int
    shape: tuple[int, ...]
    scale: float = 1
    group: str = ""
    repeats: int = 1
    stride: int = 0

    @property
    def length(self) -> int:
        """Return the number of numbers of one repetition."""
        return prod(self.shape)


class ObservationLayout:
    """The fields of an observation, in order. An encoding declares them and writes to them."""

    def __init__(self) -> None:
        self.fields: list[ObservationField] = []
        self.width = 0

    def block(
        self, name: str, meaning: str, values: str, shape: tuple[int, ...] = (1,), scale: float = 1
    ) -> ObservationField:
        """Append a field."""
        field = ObservationField(name, meaning, values, self.width, shape, scale)
        self.fields.append(field)
        self.width += field.length
        return field

    def flag(self, name: str, meaning: str) -> int:
        """Append 0 or 1, and return its index."""
        return self.block(name, meaning, "0 or 1").start

    def one_of(self, name: str, meaning: str, words: Sequence[str]) -> int:
        """Append a one-hot vector over these words, and return its start."""
        listed = ", ".join(words)
        return self.block(name, meaning, f"one-hot: {listed}", (len(words),)).start

    def card_set(self, name: str, meaning: str, size: int = len(DECK)) -> int:
        """Append a multi-hot set of cards, and return its start."""
        jokers = ", then the jokers" if size > len(DECK) else ""
        return self.block(name, meaning, f"multi-hot over the deck{jokers}", (size,)).start

    def places(self, name: str, meaning: str, count: int) -> int:
        """Append cards at positions, and return the start."""
        return self.block(name, meaning, "a card per row", (count, FACE)).start

    def ratio(
        self, name: str, meaning: str, scale: float, signed: bool = False
    ) -> ObservationField:
        """Append a number that is divided by its maximum."""
        lowest = "-1" if signed else "0"
        return self.block(name, meaning, f"n / {scale:g}, {lowest} to 1", scale=scale)

    def squashed(self, name: str, meaning: str, scale: float) -> ObservationField:
        """Append an unbounded number that :func:`squashed` maps to the range from -1 to 1."""
        return self.block(name, meaning, f"x / (\\|x\\| + {scale:g})", scale=scale)

    @contextmanager
    def repeated(self, group: str, repeats: int) -> Iterator[None]:
        """Repeat the fields that are declared inside, as a whole, for each item of a group."""
        first, began = len(self.fields), self.width
        yield
        stride = self.width - began
        self.fields[first:] = [
            ObservationField(
                f.name, f.meaning, f.values, f.start, f.shape, f.scale, group, repeats, stride
            )
            for f in self.fields[first:]
        ]
        self.width += (repeats - 1) * stride

    def stride(self, start: int) -> int:
        """Return the distance between the repetitions of the field that starts here."""
        return next(field.stride for field in self.fields if field.start == start)


@dataclass(slots=True)
class Decision:
    """The typed action that the chosen numbers have determined."""

    action: Action


class Choices(ABC):
    """The legal numbers of one step of a decision."""

    numbers: Sequence[int] = ()

    @abstractmethod
    def actions(self, number: int) -> Sequence[Action]:
        """Return all actions that a legal number can lead to."""

    @abstractmethod
    def chosen(self, number: int) -> "Choices | Decision":
        """Return the next step after a legal number, or the action."""


class DirectChoices(Choices):
    """Every number is one action, which is only constructed when it is chosen."""

    def __init__(
        self, numbers: Sequence[int] = (), action: Callable[[int], Action] = lambda number: number
    ) -> None:
        self.numbers = numbers
        self._action = action

    def actions(self, number: int) -> Sequence[Action]:
        return (self._action(number),)

    def chosen(self, number: int) -> Decision:
        return Decision(self._action(number))


NO_CHOICES: Final = DirectChoices()
"""The choices of a seat that is not to act."""


class ListedChoices(Choices):
    """Listed actions in `size` groups of consecutive actions; the chosen group is split again."""

    def __init__(self, listed: Sequence[Action], size: int) -> None:
        self._size = size
        self._groups: dict[int, list[Action]] = {}
        count = max(size, len(listed))
        for position, action in enumerate(listed):
            self._groups.setdefault(position * size // count, []).append(action)
        self.numbers = tuple(self._groups)

    def actions(self, number: int) -> Sequence[Action]:
        return self._groups[number]

    def chosen(self, number: int) -> Choices | Decision:
        group = self._groups[number]
        return Decision(group[0]) if len(group) == 1 else ListedChoices(group, self._size)


class Encoding(ABC):
    """Encoding of one form of a game, made only from a seat's view."""

    size: int
    """Number of action numbers: 0 to size - 1."""
    layout: ObservationLayout
    """The fields of an observation."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.layout = ObservationLayout()

    @abstractmethod
    def choices(self, view: View, legal: Legal) -> Choices:
        """Return the first step of a decision."""

    @abstractmethod
    def write(self, buffer: Buffer, view: View, seat: int, choices: Choices) -> None:
        """Write the observation of a seat to a buffer of zeros.

        Fields by seat start with the seat itself.
        """

    def observe(self, view: View, seat: int, choices: Choices) -> Numbers:
        """Return the observation of a seat, as a new array."""
        return np.frombuffer(self.written(view, seat, choices), np.float32)

    def written(self, view: View, seat: int, choices: Choices) -> Buffer:
        """Return the observation of a seat, as a new buffer."""
        buffer = self._zeros[:]
        self.write(buffer, view, seat, choices)
        return buffer

    @cached_property
    def _zeros(self) -> Buffer:
        """Return an empty observation; a copy takes a third of the time of a construction."""
        return array("f", bytes(4 * self.layout.width))

    def from_here(self, seat: int) -> tuple[int, ...]:
        """Return the seats in order, starting with this one."""
        return (*range(seat, self.seats), *range(seat))


def places(cards: Sequence[str], hand: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of cards in a hand, in ascending order."""
    return tuple(sorted(hand.index(card) for card in cards))


class PlainEncoding(Encoding):
    """Encodes any game: its actions by their order in the list, its view field by field.

    More actions than numbers are split into groups of consecutive actions, and the chosen group is
    split again (:class:`ListedChoices`). An encoding made for the game trains better, because a
    number then has the same meaning in every position. A field of the view has `FIELD` numbers, or
    those of its `Bounds`.
    """

    size = 64

    def __init__(self, seats: int, view_type: type) -> None:
        super().__init__(seats)
        self._bounds = {
            name: next((each for each in metadata if isinstance(each, Bounds)), None)
            for name, hint in get_type_hints(view_type, include_extras=True).items()
            for metadata in [getattr(hint, "__metadata__", ())]
        }
        self.layout.block("seat", "the observing seat", "one-hot by seat", (seats,))
        for name, bounds in self._bounds.items():
            length = bounds.length if bounds else FIELD
            values = f"{bounds.low} to {bounds.high} as 0 to 1" if bounds else "see `PlainEncoding`"
            self.layout.block(name, "the field of the view", values, (length,))
        shape = (self.size, LISTED_ACTION)
        self.layout.block(
            "actions", "the first action of each number", "see `PlainEncoding`", shape
        )

    def choices(self, view: View, legal: Legal) -> Choices:
        return ListedChoices(list(legal), self.size)

    def write(self, buffer: Buffer, view: View, seat: int, choices: Choices) -> None:
        buffer[seat] = 1
        start = self.seats
        for name, bounds in self._bounds.items():
            length = bounds.length if bounds else FIELD
            _write_value(buffer, start, getattr(view, name), length, bounds)
            start += length
        for number in choices.numbers:
            first = choices.actions(number)[0]
            _write_value(buffer, start + number * LISTED_ACTION, first, LISTED_ACTION)


def _write_value(
    buffer: Buffer, start: int, value: object, length: int, bounds: Bounds | None = None
) -> None:
    """Write at most `length` numbers of a value of the rules."""
    numbers = array("f", islice(_numbers(value, bounds), length))
    buffer[start : start + len(numbers)] = numbers


def _numbers(value: object, bounds: Bounds | None = None) -> Iterator[float]:
    """Yield numbers from -1 to 1 for a value of the rules; a text becomes a checksum.

    Numbers with declared bounds become 0 to 1.
    """
    if is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name), bounds)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers(item, bounds)
    elif bounds and isinstance(value, (int, float)):
        yield min(1.0, max(0.0, (value - bounds.low) / (bounds.high - bounds.low)))
    elif isinstance(value, (int, float)):
        yield float(value) if isinstance(value, bool) else squashed(value, 8)
    elif isinstance(value, str) and value in DECK_WITH_JOKERS:
        yield (1 + DECK_WITH_JOKERS.index(Card(value))) / len(DECK_WITH_JOKERS)
    elif value:
        yield (crc32(str(value).encode()) % 255 - 127) / 127
    else:
        yield 0.0

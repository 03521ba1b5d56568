"""What a game is to the rest of the arena (design, section 4).

A game is pure values: no input or output, no clock, no global random numbers. To add one, write
a :class:`State` and a :class:`Game` and name the game in :mod:`referee.games.registry`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from random import Random
from typing import Any, ClassVar, Self

from referee.dealing import Chance

Action = Any
"""A typed word of a game, a frozen dataclass such as ``Draw(discards=...)``."""
View = Any
"""What one seat sees, a frozen dataclass such as ``PokeView``."""


class SetupError(ValueError):
    """A game cannot be started like this. Its text is a sentence for people."""


class IllegalAction(ValueError):
    """An action that is not legal now. Its text is a sentence for people."""


Words = Iterator[tuple[type, Iterator[tuple[Any, ...]]]]
"""Actions by kind, each as the values of its fields in their order."""

Value = bool | int | str
"""The value of an option."""

MOST = 1_000_000
"""The most that an option can be which is a whole number: scores must fit into 32 bits."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a game. Its kind is the kind of its default: truth, whole number, or word."""

    default: Value
    meaning: str
    """One sentence."""
    choices: tuple[str, ...] = ()
    """The words it may be, if it is a word."""


Options = Mapping[str, Value]
"""A value for every option of a game."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, by seat."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    """1 + the number of entrants with a strictly better score; both seats of a side share one."""


Merit = int | tuple[int, ...]
"""What a seat is ranked by; more is better."""


def places_of(merits: Sequence[Merit], sides: Sequence[int]) -> tuple[int, ...]:
    """The places that follow from what each seat is ranked by (rules README, *Result*)."""
    by_side = dict(zip(sides, merits, strict=True))
    return tuple(
        1 + sum(other > by_side[side] for other in by_side.values())  # type: ignore[operator]
        for side in sides
    )


def either(things: Sequence[object]) -> str:
    """Things to choose from, in words: "2, 3 or 4"."""
    *others, last = map(str, things)
    return f"{', '.join(others)} or {last}" if others else last


class Legal(ABC):
    """The legal actions of a seat.

    ``in`` decides any action, exactly. Iterating gives all of them, or an honest sample where
    they are too many (:attr:`complete` says which), the most harmless first.
    """

    @property
    def complete(self) -> bool:
        """Whether iterating gives every legal action."""
        return True

    @abstractmethod
    def __contains__(self, action: object) -> bool: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Action]: ...

    def any(self, chance: Random) -> Action:
        """One of the listed actions, each as likely.

        It is ``chance.choice(list(self))``; a game that lists very many need not make them all.
        """
        return chance.choice(list(self))


class LazyActions(Legal):
    """Legal actions that can be told without making them, which is most of what listing costs."""

    @abstractmethod
    def words(self) -> Words:
        """All of them; each as the values of its fields, by kind."""

    def __iter__(self) -> Iterator[Action]:
        for kind, spelled in self.words():
            yield from starmap(kind, spelled)


class State(ABC):
    """A position of a game; never changed once made."""

    @property
    @abstractmethod
    def actors(self) -> tuple[int, ...]:
        """The seats that act now, in seat order; several choose at once, none is the end."""

    @abstractmethod
    def legal(self, seat: int) -> Legal:
        """What a seat that acts may do."""

    @abstractmethod
    def view(self, seat: int) -> View:
        """What a seat sees, built up from what it knows."""

    @abstractmethod
    def public(self) -> View:
        """What everybody at the table knows, a spectator too, built up from that.

        It is a view like a seat's; what would be a seat's own is empty, nothing or false.
        """

    @property
    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """The score of every seat so far; final when nobody acts."""

    @property
    def merits(self) -> tuple[Merit, ...]:
        """What every seat is ranked by: the scores, unless a game says otherwise."""
        return self.scores

    @abstractmethod
    def redeal(self, seat: int | None, luck: Chance) -> "State":
        """Another position that looks the same to ``seat`` for good reason.

        All that the seat cannot know is dealt again by ``luck``, consistent with all it has seen.
        Without a seat it is all that a spectator cannot know.
        """

    @abstractmethod
    def after(self, moves: Mapping[int, Action]) -> "State":
        """What follows when every seat that acts makes its move, known to be legal.

        :meth:`play` is the same for moves that are not known to be.
        """

    def but(self, **changes: object) -> Self:
        """The same position but for these fields; eight times as fast as dataclasses.replace."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def play(self, moves: Mapping[int, Action]) -> "State":
        """What follows when every seat that acts makes its move.

        Raises:
            IllegalAction: a move is not legal, or it is not the turn of just these seats.
        """
        actors = self.actors
        if tuple(moves) != actors and tuple(sorted(moves)) != actors:
            raise IllegalAction(f"seats {sorted(moves)} moved; it is the turn of {actors}")
        for seat, action in moves.items():
            if action not in self.legal(seat):
                raise IllegalAction(f"{action} is not legal for seat {seat}")
        return self.after(moves)


class Game(ABC):
    """A game of the registry."""

    id: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[tuple[int, ...]]
    """The numbers of seats it can be played with, the usual one first."""
    options: ClassVar[Mapping[str, Option]] = {}
    view_type: ClassVar[type]
    action_types: ClassVar[tuple[type, ...]]

    @abstractmethod
    def _start(self, luck: Chance, seats: int, options: Options) -> State:
        """The first position of a set-up that has been checked."""

    def sides(self, seats: int, options: Options) -> tuple[int, ...]:
        """The side of each seat; everyone for himself unless a game says otherwise."""
        return tuple(range(seats))

    def side_count(self, seats: int, options: Options) -> int:
        """How many sides a table of so many seats has: so many entrants play at it."""
        return len(set(self.sides(seats, options)))

    @abstractmethod
    def from_view(self, view: View, seat: int, options: Options, luck: Chance) -> State:
        """A position that looks like this view to this seat.

        All that the seat cannot know is dealt by ``luck``: it equals ``state.redeal(seat, luck)``
        for every state of such a view, since a view holds all that its seat knows.

        Args:
            view: what the seat sees.
            seat: the seat.
            options: a value for every option of the game.
            luck: what chance decides.
        """

    def settle(self, options: Mapping[str, object]) -> dict[str, Value]:
        """All options with their values; what is left out has its default.

        Values may be given as text ("true", "3").

        Raises:
            SetupError: an option is unknown, or its value is of the wrong kind.
        """
        for name in options:
            if name not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise SetupError(f'{self.id} has no option "{name}"; its options: {known}')
        return {
            name: self._value(name, options.get(name, option.default), option)
            for name, option in self.options.items()
        }

    def _value(self, name: str, given: object, option: Option) -> Value:
        text = str(given)
        if option.choices:
            if text in option.choices:
                return text
            allowed = either(option.choices)
        elif isinstance(option.default, bool):
            if text.lower() in ("true", "false") and isinstance(given, bool | str):
                return text.lower() == "true"
            allowed = "true or false"
        else:
            short = len(text) <= len(str(MOST)) and text.isdecimal() and text.isascii()
            if short and not isinstance(given, bool) and int(text) <= MOST:
                return int(text)
            allowed = f"a whole number from 0 to {MOST}"
        raise SetupError(f'option {name} of {self.id} is "{given}"; it must be {allowed}')

    def start(
        self, luck: Chance, seats: int | None = None, options: Mapping[str, object] | None = None
    ) -> State:
        """The first position.

        Args:
            luck: what chance decides: ``Seeded(game_seed)``, or ``Arranged`` from given cards.
            seats: how many play; the usual number if left out.
            options: settings that differ from their defaults.

        Raises:
            SetupError: the game cannot be set up like this.
        """
        settled = self.settle(options or {})
        number = self.seats[0] if seats is None else seats
        self.check_seats(number, settled)
        try:
            return self._start(luck, number, settled)
        except ValueError as error:
            raise SetupError(f"{self.id} cannot be dealt: {error}") from error

    def check_seats(self, seats: int, options: Options) -> None:
        """Raises SetupError unless the game can be played by so many with these options."""
        if seats not in self.seats:
            allowed = either(sorted(self.seats))
            raise SetupError(f"{self.id} is played by {allowed}, not by {seats}")

    def allows(self, seats: int, options: Options) -> bool:
        """Whether the game can be played by so many with these options."""
        try:
            self.check_seats(seats, options)
        except SetupError:
            return False
        return True

    def outcome(self, state: State, sides: Sequence[int]) -> Outcome:
        """How a game ended."""
        return Outcome(state.scores, places_of(state.merits, sides))

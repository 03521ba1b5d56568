"""Interface between a game and the arena.

A game consists of pure values: it does not use input, output, clocks or global random numbers. To
add a game, write a :class:`State` and a :class:`Game`, and name the latter by an entry point of
your package (:mod:`referee.games.game_packages`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from random import Random
from typing import Any, ClassVar, Literal, Self

from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import Chance

Action = Any
"""An action of a game, a frozen dataclass such as ``Draw(discards=...)``."""
View = Any
"""The information visible to one seat, a frozen dataclass such as ``PokeView``."""
MAX_OPTION_VALUE = 1_000_000
"""Maximum of an option with whole numbers, because scores must fit into 32 bits."""


class SetupError(InvalidValue):
    """A game cannot start with this set-up. The message is a full sentence."""


class IllegalAction(InvalidValue):
    """An action is not legal in this position. The message is a full sentence."""


ActionArguments = Iterator[tuple[Callable[[Any], Action], Iterable[Any]]]
"""Actions by constructor, each as the constructor's argument.

Constructors and arguments are hashable. A constructor is a type of actions, or a function that
exists as long as the process.
"""


def constructed(action: Action) -> Action:
    """Return the action: the constructor of actions that are listed as themselves."""
    return action


OptionValue = bool | int | str
"""The value of an option."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game. Its type is that of its default: bool, int or str."""

    default: OptionValue
    meaning: str
    """Description in one sentence."""
    choices: tuple[str, ...] = ()
    """Allowed values of a str option."""
    later: bool = False
    """Whether the game received the option after a release, whose tournaments do not name it."""


Options = Mapping[str, OptionValue]
"""A value for every option of a game."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Final scores and places, by seat."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    """1 + the number of entrants with a strictly better score; both seats of a side share one."""


PlaceKey = int | tuple[int, ...]
"""Ranking key of a seat; greater is better."""


def places_of(place_keys: Sequence[PlaceKey], sides: Sequence[int]) -> tuple[int, ...]:
    """Compute places from the ranking keys of the seats."""
    by_side = dict(zip(sides, place_keys, strict=True))
    return tuple(
        1 + sum(other > by_side[side] for other in by_side.values())  # type: ignore[operator]
        for side in sides
    )


def join_alternatives(alternatives: Sequence[object]) -> str:
    """Join alternatives in English: "2, 3 or 4"."""
    *others, last = map(str, alternatives)
    return f"{', '.join(others)} or {last}" if others else last


class Legal(ABC):
    """The legal actions of a seat.

    ``in`` decides exactly for any action. Iteration yields all legal actions or, if there are too
    many, a representative sample (see :attr:`complete`). The most harmless action is first.
    """

    @property
    def complete(self) -> bool:
        """Return whether iteration yields every legal action."""
        return True

    @abstractmethod
    def __contains__(self, action: object) -> bool: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Action]: ...

    def any(self, chance: Random) -> Action:
        """Return one of the listed actions, uniformly at random.

        The result equals ``chance.choice(list(self))``. A game with very long lists can override it
        to avoid constructing all actions.
        """
        return chance.choice(list(self))


class LazyActions(Legal):
    """Lazily constructed legal actions: construction is most of the cost of listing them."""

    @abstractmethod
    def by_constructor(self) -> ActionArguments:
        """Yield all listed actions by constructor, each as its argument."""

    def __iter__(self) -> Iterator[Action]:
        return chain.from_iterable(starmap(map, self.by_constructor()))

    def any(self, chance: Random) -> Action:
        """Return one of the listed actions, uniformly at random; only this one is constructed."""
        listed = [
            (kind, argument) for kind, arguments in self.by_constructor() for argument in arguments
        ]
        kind, argument = chance.choice(listed)
        return kind(argument)


class State(ABC):
    """An immutable position of a game."""

    __slots__ = ()

    @property
    @abstractmethod
    def actors(self) -> tuple[int, ...]:
        """Return the seats that act now, in seat order.

        Several seats choose simultaneously. An empty tuple means the end of the game.
        """

    @abstractmethod
    def legal(self, seat: int) -> Legal:
        """Return the legal actions of a seat that acts now."""

    @abstractmethod
    def view(self, seat: int) -> View:
        """Return the view of a seat, built only from information the seat has."""

    @abstractmethod
    def public(self) -> View:
        """Return the public view, for spectators too, built only from public information.

        It has the type of a seat's view; private fields are empty, None or false.
        """

    @property
    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """Return the current score of every seat; final when nobody acts."""

    @property
    def place_keys(self) -> tuple[PlaceKey, ...]:
        """Return the ranking key of every seat; a game may override the default, the score."""
        return self.scores

    @abstractmethod
    def redeal(self, seat: int | None, luck: Chance) -> "State":
        """Return a random position that is consistent with the information of ``seat``.

        Deals all information hidden from the seat again from ``luck``, consistent with all the seat
        has seen. With ``seat`` None, deals all information hidden from a spectator.
        """

    @abstractmethod
    def after(self, moves: Mapping[int, Action]) -> "State":
        """Return the next position after one legal move of every seat that acts.

        The moves are not checked; :meth:`play` checks them.
        """

    def but(self, **changes: object) -> Self:
        """Return a copy with changed fields; eight times as fast as dataclasses.replace.

        :func:`~referee.games.shared.fast_values.fast_value` replaces it in classes with slots.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def deal_unseen(self, luck: Chance) -> "State":
        """Return the position with other chance in all that no seat has seen yet.

        The hands stay as they are, unlike in :meth:`redeal`, so that a recorded action stays legal.
        By default only later deals have other chance: ``luck``, if the state has this field.
        """
        return self.but(luck=luck) if hasattr(self, "luck") else self

    def chance_since(self, before: "State") -> Literal["", "early", "late"]:
        """Return whether chance was revealed since an earlier position of the same deal.

        It follows from that position and the actions, not from the result of the chance. Luck in
        the early and the late part of a deal is estimated separately.
        """
        return ""

    def play(self, moves: Mapping[int, Action]) -> "State":
        """Check one move of every seat that acts and return the next position.

        Raises:
            IllegalAction: a move is not legal, or these are not exactly the seats that act.
        """
        actors = self.actors
        if tuple(moves) != actors and tuple(sorted(moves)) != actors:
            raise IllegalAction(
                f"seats {sorted(moves)} moved; it is the turn of {actors}", code="not-their-turn"
            )
        for seat, action in moves.items():
            if action not in self.legal(seat):
                raise IllegalAction(f"{action} is not legal for seat {seat}", code="not-legal")
        return self.after(moves)


class Game(ABC):
    """A game of the registry: set-up, options and message types."""

    id: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[tuple[int, ...]]
    """Allowed numbers of seats, the default first."""
    options: ClassVar[Mapping[str, Option]] = {}
    view_type: ClassVar[type]
    action_types: ClassVar[tuple[type, ...]]
    presentation: ClassVar[str] = ""
    """Class that shows the game, as the text "module:Class"; empty for the default presentation."""

    @abstractmethod
    def _start(self, luck: Chance, seats: int, options: Options) -> State:
        """Return the first position of a checked set-up."""

    def sides(self, seats: int, options: Options) -> tuple[int, ...]:
        """Return the side of each seat; by default each seat is its own side."""
        return tuple(range(seats))

    def side_count(self, seats: int, options: Options) -> int:
        """Return the number of sides, which is the number of entrants at the table."""
        return len(set(self.sides(seats, options)))

    @abstractmethod
    def from_view(self, view: View, seat: int | None, options: Options, luck: Chance) -> State:
        """Return a position consistent with this view of this seat.

        Deals all information hidden from the seat from ``luck``. A view holds all information of
        its seat, so the result equals ``state.redeal(seat, luck)`` for every state with this view.

        Args:
            view: the view of the seat, or the public view.
            seat: the seat; None for the public view.
            options: a value for every option of the game.
            luck: the chance source.
        """

    def settle(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """Check options, convert their values and add the defaults.

        Values may be text ("true", "3").

        Raises:
            SetupError: an option is unknown, or its value is of the wrong type.
        """
        for name in options:
            if name not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise SetupError(
                    f'{self.id} has no option "{name}"; its options: {known}', code="unknown-option"
                )
        return {
            name: self._value(name, options.get(name, option.default), option)
            for name, option in self.options.items()
        }

    def _value(self, name: str, given: object, option: Option) -> OptionValue:
        text = str(given)
        if option.choices:
            if text in option.choices:
                return text
            allowed = join_alternatives(option.choices)
        elif isinstance(option.default, bool):
            if text.lower() in ("true", "false") and isinstance(given, bool | str):
                return text.lower() == "true"
            allowed = "true or false"
        else:
            short = len(text) <= len(str(MAX_OPTION_VALUE)) and text.isdecimal() and text.isascii()
            if short and not isinstance(given, bool) and int(text) <= MAX_OPTION_VALUE:
                return int(text)
            allowed = f"a whole number from 0 to {MAX_OPTION_VALUE}"
        raise SetupError(
            f'option {name} of {self.id} is "{given}"; it must be {allowed}', code="option-value"
        )

    def start(
        self, luck: Chance, seats: int | None = None, options: Mapping[str, object] | None = None
    ) -> State:
        """Deal a game and return its first position.

        Args:
            luck: the chance source: ``Seeded(game_seed)``, or ``Arranged`` for given cards.
            seats: the number of seats; default: the first of :attr:`seats`.
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
            raise SetupError(
                f"{self.id} cannot be dealt: {error}", code=getattr(error, "code", "")
            ) from error

    def check_seats(self, seats: int, options: Options) -> None:
        """Check that the game allows this number of seats with these options.

        Raises:
            SetupError: it does not.
        """
        if seats not in self.seats:
            allowed = join_alternatives(sorted(self.seats))
            raise SetupError(f"{self.id} needs {allowed} seats, not {seats}", code="seats")

    def check_new(self, seats: int, options: Options) -> None:
        """Check that new matches may have this number of seats with these options.

        A game overrides it to refuse what only earlier matches have; those are still replayed.

        Raises:
            SetupError: they may not.
        """
        self.check_seats(seats, options)

    def allows(self, seats: int, options: Options) -> bool:
        """Return whether new matches may have this number of seats with these options."""
        try:
            self.check_new(seats, options)
        except SetupError:
            return False
        return True

    def outcome(self, state: State, sides: Sequence[int]) -> Outcome:
        """Return the scores and places of a finished game."""
        return Outcome(state.scores, places_of(state.place_keys, sides))

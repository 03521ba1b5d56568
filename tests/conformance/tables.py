"""Every game of the registry, with its numbers of seats and the settings of its options."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import pytest

from referee.game_codec import GameCodec
from referee.games.contract import Game, Option, State, Value
from referee.games.registry import GAMES
from referee.games.shared.dealing import Chance

Settings = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Table:
    """A game as it is set up."""

    game: Game
    seats: int
    settings: Settings

    @property
    def options(self) -> dict[str, Value]:
        """The value of every option."""
        return dict(self.settings)

    @cached_property
    def codec(self) -> GameCodec:
        """The codec of the game."""
        return GameCodec(self.game)

    def start(self, luck: Chance) -> State:
        """The first position."""
        return self.game.start(luck, self.seats, self.options)

    def __str__(self) -> str:
        settings = [
            _told(name, value) for name, value in self.settings if self._is_worth_telling(name)
        ]
        return "-".join([self.game.id, str(self.seats), *settings])

    def _is_worth_telling(self, name: str) -> bool:
        option = self.game.options[name]
        return bool(option.choices) or isinstance(option.default, bool)


def _told(name: str, value: Value) -> str:
    return f"{name}={str(value).lower()}"


def values(option: Option) -> tuple[Value, ...]:
    """The values of an option; a whole number has its default alone."""
    if option.choices:
        return option.choices
    return (False, True) if isinstance(option.default, bool) else (option.default,)


def settings(game: Game) -> Iterator[Settings]:
    """Every setting of the options."""
    for chosen in product(*map(values, game.options.values())):
        yield tuple(zip(game.options, chosen, strict=True))


def tables(games: Mapping[str, Game]) -> Iterator[Table]:
    """The tables at which the games are tried.

    Every setting of the options at the smallest table that allows it; every number of seats with
    the default options; and the largest table with the last setting, which has all switches on.
    """
    for game in games.values():
        usual = tuple((name, option.default) for name, option in game.options.items())
        every = list(settings(game))
        combinations = [
            (next(n for n in game.seats if game.allows(n, dict(choice))), choice)
            for choice in every
        ]
        combinations += product(game.seats, [usual])
        combinations += [(n, every[-1]) for n in game.seats[-1:]]
        for seats, chosen in dict.fromkeys(combinations):
            if game.allows(seats, dict(chosen)):
                yield Table(game, seats, chosen)


TABLES = tuple(tables(GAMES))


def is_quick(table: Table) -> bool:
    """Whether the quick suite tries a table.

    Of each game the smallest with no option turned, and the largest with all; the long suite tries
    all tables.
    """
    game = table.game
    options = game.options
    switches = [name for name, option in options.items() if len(values(option)) > 1]
    turned = sum(table.options[name] != options[name].default for name in switches)
    if turned == 0 and table.seats == min(game.seats):
        return True
    return turned == len(switches) and table.seats == max(game.seats)


THIRD = 3
"""CI's long suite tests every n-th of the other tables, and scripts/release-check the rest."""


def marks(number: int, table: Table) -> list[pytest.MarkDecorator]:
    """Return the marks of the table with this number."""
    if is_quick(table):
        return []
    return [pytest.mark.long] + ([pytest.mark.repetition] if number % THIRD else [])


every_table = pytest.mark.parametrize(
    "table",
    [pytest.param(table, marks=marks(number, table)) for number, table in enumerate(TABLES)],
    ids=str,
    scope="module",
)
"""For tests of whatever is in the registry. Those of a file follow one another table by table."""

OF_A_GAME = 4
"""A game with more tables than this shares that many tables' cases among them."""


def share(table: Table, cases: int) -> int:
    """Return a table's share of this number of cases, at least 1."""
    tables = sum(other.game is table.game for other in TABLES)
    return cases if tables <= OF_A_GAME else max(1, cases * OF_A_GAME // tables)

"""All tables of the tests: each game of the registry with numbers of seats and option settings."""

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
    """A game with its number of seats and option settings."""

    game: Game
    seats: int
    settings: Settings

    @property
    def options(self) -> dict[str, Value]:
        """The value of every option."""
        return dict(self.settings)

    @cached_property
    def codec(self) -> GameCodec:
        return GameCodec(self.game)

    def start(self, luck: Chance) -> State:
        """Return the first position."""
        return self.game.start(luck, self.seats, self.options)

    def __str__(self) -> str:
        settings = [
            _option_text(name, value)
            for name, value in self.settings
            if self._is_worth_telling(name)
        ]
        return "-".join([self.game.id, str(self.seats), *settings])

    def _is_worth_telling(self, name: str) -> bool:
        option = self.game.options[name]
        return bool(option.choices) or isinstance(option.default, bool)


def _option_text(name: str, value: Value) -> str:
    return f"{name}={str(value).lower()}"


def values(option: Option) -> tuple[Value, ...]:
    """Return the tested values of an option; a whole number has only its default."""
    if option.choices:
        return option.choices
    return (False, True) if isinstance(option.default, bool) else (option.default,)


def settings(game: Game) -> Iterator[Settings]:
    """Yield every combination of option values."""
    for chosen in product(*map(values, game.options.values())):
        yield tuple(zip(game.options, chosen, strict=True))


def tables(games: Mapping[str, Game]) -> Iterator[Table]:
    """Yield the tested tables of each game.

    These are: every setting of the options at the smallest table that allows it, every number of
    seats with the default options, and the largest table with all switches on.
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
    """Return whether the quick suite tests a table.

    For each game it tests the smallest table with all options at their default, and the largest
    table with all options changed. The long suite tests all tables.
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
"""Runs a test for each table. All tests of a file run for one table before the next table."""

OF_A_GAME = 4
"""The tables of a game share the cases of at most this number of tables."""


def share(table: Table, cases: int) -> int:
    """Return a table's share of this number of cases, at least 1."""
    tables = sum(other.game is table.game for other in TABLES)
    return cases if tables <= OF_A_GAME else max(1, cases * OF_A_GAME // tables)

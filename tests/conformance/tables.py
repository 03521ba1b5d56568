"""All tables of the tests: each game of the registry with numbers of seats and option settings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import pytest

from referee.game_codec import GameCodec
from referee.games.contract import Game, Option, OptionValue, State
from referee.games.registry import GAMES
from referee.games.shared.dealing import Chance

Settings = tuple[tuple[str, OptionValue], ...]


@dataclass(frozen=True)
class Table:
    """A game with its number of seats and option settings."""

    game: Game
    seats: int
    settings: Settings

    @property
    def options(self) -> dict[str, OptionValue]:
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
            _option_text(name, value) for name, value in self.settings if self._is_in_label(name)
        ]
        return "-".join([self.game.id, str(self.seats), *settings])

    def _is_in_label(self, name: str) -> bool:
        option = self.game.options[name]
        has_values = bool(option.choices) or isinstance(option.default, bool)
        return has_values or self.options[name] != option.default


def _option_text(name: str, value: OptionValue) -> str:
    return f"{name}={str(value).lower()}"


def values(option: Option) -> tuple[OptionValue, ...]:
    """Return the tested values of an option; a whole number has only its default.

    `WITH_NUMBERS` has the tables with other numbers.
    """
    if option.choices:
        return option.choices
    return (False, True) if isinstance(option.default, bool) else (option.default,)


def settings(game: Game) -> Iterator[Settings]:
    """Yield every combination of option values."""
    for chosen in product(*map(values, game.options.values())):
        yield tuple(zip(game.options, chosen, strict=True))


WITH_NUMBERS: tuple[tuple[str, int, dict[str, OptionValue]], ...] = (
    ("pouku", 3, {"points": 20}),
    ("pouku", 4, {"points": 6, "teams": True}),
)
"""Further tables: options with whole numbers that change more than the score."""


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
        for game_id, seats, changed in WITH_NUMBERS:
            if game_id == game.id:
                yield Table(game, seats, tuple(game.settle(changed).items()))


TABLES = tuple(tables(GAMES))


def is_plainest(table: Table) -> bool:
    """Return whether it is the smallest table of its game with all options at their default."""
    return _turned(table) == 0 and table.seats == min(table.game.seats)


def is_richest(table: Table) -> bool:
    """Return whether it is the largest table of its game with all options changed."""
    switches = sum(len(values(option)) > 1 for option in table.game.options.values())
    return _turned(table) == switches and table.seats == max(table.game.seats)


def is_extreme(table: Table) -> bool:
    """Return whether it is the plainest or the richest table of its game."""
    return is_plainest(table) or is_richest(table)


def _turned(table: Table) -> int:
    """Return the number of options that are not at their default."""
    options = table.game.options.items()
    return sum(table.options[name] != option.default for name, option in options)


THIRD = 3
"""CI's long suite tests every n-th of the other tables, and scripts/release-check the rest."""


def at_each_table(is_quick: Callable[[Table], bool]) -> pytest.MarkDecorator:
    """Run a test for each table; in the quick suite only for those that `is_quick` accepts.

    All tests of a file run for one table before the next table. CI tests all extreme tables.
    """

    def marks(number: int, table: Table) -> list[pytest.MarkDecorator]:
        if is_quick(table):
            return []
        rest = number % THIRD and not is_extreme(table)
        return [pytest.mark.long] + ([pytest.mark.repetition] if rest else [])

    cases = [pytest.param(table, marks=marks(number, table)) for number, table in enumerate(TABLES)]
    return pytest.mark.parametrize("table", cases, ids=str, scope="module")


every_table = at_each_table(is_plainest)
"""Runs a test for each table, in the quick suite for the plainest table of each game."""
every_table_of_extremes = at_each_table(is_extreme)
"""Runs a test for each table, in the quick suite for the plainest and the richest of each game."""

OF_A_GAME = 4
"""The tables of a game share the cases of at most this number of tables."""


def share(table: Table, cases: int) -> int:
    """Return a table's share of this number of cases, at least 1."""
    tables = sum(other.game is table.game for other in TABLES)
    return cases if tables <= OF_A_GAME else max(1, cases * OF_A_GAME // tables)

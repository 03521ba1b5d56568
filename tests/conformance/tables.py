"""All tables of the tests: each game of the registry with numbers of seats and option settings."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from referee.game_checks.tables import Table, option_values, tables_of
from referee.games.contract import Game, OptionValue
from referee.games.registry import GAMES

WITH_NUMBERS: tuple[tuple[str, int, dict[str, OptionValue]], ...] = (
    ("pouku", 3, {"points": 20}),
    ("pouku", 4, {"points": 6, "teams": True}),
)
"""Further tables: options with whole numbers that change more than the score."""


def tables(games: Mapping[str, Game]) -> Iterator[Table]:
    for game in games.values():
        yield from tables_of(game)
        for game_id, seats, changed in WITH_NUMBERS:
            if game_id == game.id:
                yield Table(game, seats, tuple(game.settle(changed).items()))


TABLES = tuple(tables(GAMES))


def is_plainest(table: Table) -> bool:
    """Return whether it is the smallest table of its game with all options at their default."""
    return _turned(table) == 0 and table.seats == min(table.game.seats)


def is_richest(table: Table) -> bool:
    """Return whether it is the largest table of its game with all options changed."""
    switches = sum(len(option_values(option)) > 1 for option in table.game.options.values())
    return _turned(table) == switches and table.seats == max(table.game.seats)


def is_extreme(table: Table) -> bool:
    return is_plainest(table) or is_richest(table)


def _turned(table: Table) -> int:
    """Return the number of options that are not at their default."""
    options = table.game.options.items()
    return sum(table.options[name] != option.default for name, option in options)


NTH = 13
"""CI's long suite tests every n-th of the other tables, and scripts/release-check the rest."""


def at_each_table(is_quick: Callable[[Table], bool]) -> pytest.MarkDecorator:
    """Run a test for each table; in the quick suite only for those that `is_quick` accepts.

    All tests of a file run for one table before the next table. CI tests all extreme tables.
    """

    def marks(number: int, table: Table) -> list[pytest.MarkDecorator]:
        if is_quick(table):
            return []
        rest = number % NTH and not is_extreme(table)
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

"""Run all checks of a game at its tables."""

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from referee.game_checks import (
    action_checks,
    message_checks,
    presentation_checks,
    rule_checks,
    secrecy_checks,
)
from referee.game_checks.tables import Table, tables_of
from referee.games.contract import NOT_REDEALT, Game

Check = Callable[[Table], Iterator[str]]
"""Yields the problems of a game at a table."""

CHECKS: Final[Mapping[str, Check]] = {
    "description": rule_checks.self_description,
    "random-games": rule_checks.random_games,
    "harmless-games": rule_checks.harmless_games,
    "immutability": rule_checks.immutability,
    "purity": rule_checks.purity,
    "determinism": rule_checks.determinism,
    "boards": rule_checks.boards,
    "other-processes": rule_checks.other_processes,
    "turns": rule_checks.turns,
    "listing": action_checks.listing,
    "listed-are-played": action_checks.listed_actions_are_played,
    "refusal": action_checks.refusal,
    "view-messages": message_checks.view_messages,
    "action-messages": message_checks.action_messages,
    "records": message_checks.records,
    "secrecy": secrecy_checks.secrecy,
    "redealt-games": secrecy_checks.redealt_games,
    "complete-redeal": secrecy_checks.redeal_is_complete,
    "from-view": secrecy_checks.from_view,
    "rendering": presentation_checks.rendering,
    "action-texts": presentation_checks.action_texts,
    "history": presentation_checks.history,
    "speed": message_checks.speed,
}
"""All checks by name, in the order of their execution."""
NEEDED: Final = ("description", "random-games")
"""Checks whose failure at a table ends the checks of this table: the others play its games."""
REDEALING: Final = ("secrecy", "redealt-games", "complete-redeal", "from-view")
"""Checks that a game leaves out whose hidden information cannot be dealt again."""
MOST_TABLES: Final = 12


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The first problem that a check found at a table; None if it found none."""

    check: str
    table: str
    problem: str | None
    left_out: str = ""
    """Why the check was left out; empty if it was made."""


def checked_tables(game: Game) -> list[Table]:
    """Return the tables at which a game is checked: at most `MOST_TABLES`, the last one included.

    The last one is the largest with all options changed.
    """
    *others, last = tables_of(game)
    return [*islice(others, MOST_TABLES - 1), last]


def check_game(game: Game) -> Iterator[CheckResult]:
    """Run all checks of a game at its tables; the game must be registered."""
    for table in checked_tables(game):
        for name in CHECKS:
            result = check_table(name, table)
            yield result
            if result.problem and name in NEEDED:
                break


def check_table(name: str, table: Table) -> CheckResult:
    """Run one check at one table. An exception of the game's code is a problem."""
    if name in REDEALING and not table.game.redeals:
        return CheckResult(name, str(table), None, NOT_REDEALT)
    try:
        problem = next(iter(CHECKS[name](table)), None)
    except Exception as error:  # the code of a game may raise anything
        at = traceback.extract_tb(error.__traceback__)[-1]
        message = " ".join(f"{type(error).__name__}: {error}".split())
        problem = f"{message} ({Path(at.filename).name}, line {at.lineno})"
    return CheckResult(name, str(table), problem)

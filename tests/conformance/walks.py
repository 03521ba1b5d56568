"""Random games of the tested tables."""

from collections.abc import Iterator, Sequence

from referee.game_checks.random_games import Step, walk
from referee.game_checks.tables import Table
from tests.conformance.tables import share

A_WALK = 100
"""Number of positions of a game that are examined in detail."""


def walks(table: Table, most: int) -> Iterator[Sequence[Step]]:
    """Return this number of games of a table, or its share if the game has many tables."""
    for number in range(share(table, most)):
        yield walk(table, number)


def closely(table: Table, steps: Sequence[Step]) -> Sequence[Step]:
    """Return the positions to examine in detail: all, or the table's share if the game has many."""
    number = share(table, A_WALK)
    return steps if number == A_WALK else steps[:: max(1, len(steps) // number)]

"""Random games, position by position."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from referee.games.contract import Action, Legal, State
from referee.games.shared.dealing import Seeded
from tests.conformance.tables import Table, share

Moves = Mapping[int, Action]

A_WALK = 100
"""Number of positions of a game that are examined in detail."""
TOO_LONG = 20_000
"""Maximum length of a random game; a longer game counts as endless."""


@dataclass(frozen=True)
class Step:
    """A position and the actions in it; no actions in the last one."""

    state: State
    moves: Moves


def dice(*named: object) -> random.Random:
    """Return a random number generator that is seeded by the names."""
    return random.Random("/".join(map(str, named)))


def choose(legal: Legal, rng: random.Random) -> Action:
    """Return a random listed action; the last one, usually the largest, has a higher
    probability."""
    listed = list(legal)
    return listed[-1] if rng.random() < 0.2 else rng.choice(listed)


def go_on(state: State, rng: random.Random) -> Iterator[Step]:
    """Yield a random game from this position to its end."""
    for _ in range(TOO_LONG):
        moves = {seat: choose(state.legal(seat), rng) for seat in state.actors}
        yield Step(state, moves)
        if not moves:
            return
        state = state.play(moves)
    raise AssertionError(f"the game does not end: {state}")


def walks(table: Table, most: int) -> Iterator[list[Step]]:
    """Return this number of games of a table, or its share if the game has many tables."""
    for number in range(share(table, most)):
        yield walk(table, number)


def closely(table: Table, steps: list[Step]) -> list[Step]:
    """Return the positions to examine in detail: all, or the table's share if the game has many."""
    number = share(table, A_WALK)
    return steps if number == A_WALK else steps[:: max(1, len(steps) // number)]


def walk(table: Table, number: int) -> list[Step]:
    """Return the random game with this number at a table."""
    return list(_walk(table, number))


# Consecutive tests of a table use the same games.
@lru_cache(maxsize=64)
def _walk(table: Table, number: int) -> tuple[Step, ...]:
    rng = dice(table, number)
    return tuple(go_on(table.start(Seeded(rng.randbytes(32))), rng))

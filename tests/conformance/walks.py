"""Games played at random, position by position."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from referee.games.contract import Action, Legal, State
from referee.games.shared.dealing import Seeded
from tests.conformance.tables import Table, share

Moves = Mapping[int, Action]

A_WALK = 100
"""Positions of a game that are looked at closely."""
TOO_LONG = 20_000
"""A game at random that is longer than this does not end."""


@dataclass(frozen=True)
class Step:
    """A position, and what was done in it; nothing at the end."""

    state: State
    moves: Moves


def dice(*named: object) -> random.Random:
    """Random numbers that depend only on their names."""
    return random.Random("/".join(map(str, named)))


def choose(legal: Legal, rng: random.Random) -> Action:
    """One of the listed actions; the last, which are the largest, more often than by chance."""
    listed = list(legal)
    return listed[-1] if rng.random() < 0.2 else rng.choice(listed)


def go_on(state: State, rng: random.Random) -> Iterator[Step]:
    """The game from this position to its end."""
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
    """Positions to look at closely: all, or the share of a table if the game has many."""
    number = share(table, A_WALK)
    return steps if number == A_WALK else steps[:: max(1, len(steps) // number)]


def walk(table: Table, number: int) -> list[Step]:
    """A whole game at a table; the same for the same number."""
    return list(_walk(table, number))


# Tests of one table follow one another, and look at the same games.
@lru_cache(maxsize=64)
def _walk(table: Table, number: int) -> tuple[Step, ...]:
    rng = dice(table, number)
    return tuple(go_on(table.start(Seeded(rng.randbytes(32))), rng))

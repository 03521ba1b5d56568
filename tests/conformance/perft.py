"""Perft: count legal sequences to a small depth from fixed positions, as chess programs do.

An unintended change of a rule changes such a count, even if no golden record reaches the rule.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path

from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import Action, State
from tests.conformance.tables import TABLES

FOLDER = Path(__file__).parents[1] / "golden" / "perft"

MOST = 1_000
"""Maximum number of positions that are expanded; it limits the depth."""
DEEPEST = 6
WHERE = {"first": 0.0, "middle": 0.5, "late": 0.9}
"""The fixed positions, as fractions of the length of a random game."""

Counts = dict[str, list[int]]


def following(state: State) -> Iterator[State]:
    """Yield the successor for each listed action, or each combination of simultaneous ones."""
    listed = [list(state.legal(seat)) for seat in state.actors]
    for actions in product(*listed) if listed else ():
        moves: Mapping[int, Action] = dict(zip(state.actors, actions, strict=True))
        yield state.after(moves)


def choices(state: State) -> int:
    return prod(len(list(state.legal(seat))) for seat in state.actors) if state.actors else 0


def counts(state: State) -> list[int]:
    """Return the numbers of sequences of 1, 2, ... turns, up to `MOST` and `DEEPEST`."""
    numbers: list[int] = []
    positions = [state]
    while len(numbers) < DEEPEST:
        numbers.append(sum(map(choices, positions)))
        if not 0 < numbers[-1] <= MOST:
            return numbers
        positions = [after for position in positions for after in following(position)]
    return numbers


def of_table(table: Table) -> Counts:
    steps = walk(table, 0)
    return {name: counts(steps[int(part * (len(steps) - 1))].state) for name, part in WHERE.items()}


def path(game_id: str) -> Path:
    return FOLDER / f"{game_id}.json"


def of_game(game_id: str) -> dict[str, Counts]:
    return {str(table): of_table(table) for table in TABLES if table.game.id == game_id}


def text(counts_by_table: dict[str, Counts]) -> str:
    """Return counts in the file's format, with one line per position."""
    spread = json.dumps(counts_by_table, indent=1)
    return (
        re.sub(r"\[[^]]*\]", lambda counts: " ".join(counts[0].split()), spread)
        .replace("[ ", "[")
        .replace(" ]", "]")
        + "\n"
    )

"""Counts of legal sequences to a small depth from fixed positions, as chess programs have them.

A rule that is changed by mistake changes such a count, even where no golden record comes by.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path

from referee.games.contract import Action, State
from tests.conformance.tables import TABLES, Table
from tests.conformance.walks import walk

FOLDER = Path(__file__).parents[1] / "golden" / "perft"

MOST = 1_000
"""Maximum number of positions that are expanded; it limits the depth."""
DEEPEST = 6
WHERE = {"first": 0.0, "middle": 0.5, "late": 0.9}
"""How far into a game at random the positions lie."""

Counts = dict[str, list[int]]


def following(state: State) -> Iterator[State]:
    """Every position that the listed actions lead to; one a combination of simultaneous ones."""
    listed = [list(state.legal(seat)) for seat in state.actors]
    for actions in product(*listed) if listed else ():
        moves: Mapping[int, Action] = dict(zip(state.actors, actions, strict=True))
        yield state.after(moves)


def choices(state: State) -> int:
    """How many sequences of one turn there are."""
    return prod(len(list(state.legal(seat))) for seat in state.actors) if state.actors else 0


def counts(state: State) -> list[int]:
    """The numbers of sequences of 1, 2, ... turns, as deep as the bounds allow."""
    numbers: list[int] = []
    positions = [state]
    while len(numbers) < DEEPEST:
        numbers.append(sum(map(choices, positions)))
        if not 0 < numbers[-1] <= MOST:
            return numbers
        positions = [after for position in positions for after in following(position)]
    return numbers


def of_table(table: Table) -> Counts:
    """The counts from the fixed positions of a table."""
    steps = walk(table, 0)
    return {name: counts(steps[int(part * (len(steps) - 1))].state) for name, part in WHERE.items()}


def path(game_id: str) -> Path:
    """Where the counts of a game are kept."""
    return FOLDER / f"{game_id}.json"


def of_game(game_id: str) -> dict[str, Counts]:
    """The counts of all tables of a game."""
    return {str(table): of_table(table) for table in TABLES if table.game.id == game_id}


def text(counts_by_table: dict[str, Counts]) -> str:
    """Counts as they are kept: a line a position."""
    spread = json.dumps(counts_by_table, indent=1)
    return (
        re.sub(r"\[[^]]*\]", lambda counts: " ".join(counts[0].split()), spread)
        .replace("[ ", "[")
        .replace(" ]", "]")
        + "\n"
    )

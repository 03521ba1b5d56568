"""Golden records: one match at every table, kept in tests/golden and compared exactly.

The counts of legal sequences (tests/conformance/perft.py) are in the same folder.

Run as a program (``scripts/golden``), it writes all of them again.
"""

import hashlib
from pathlib import Path

from referee.game_checks.recorded_matches import match_record
from referee.game_checks.tables import Table
from referee.games.registry import GAMES
from tests.conformance import perft
from tests.conformance.tables import TABLES

FOLDER = Path(__file__).parents[1] / "golden"


def path(table: Table) -> Path:
    return FOLDER / f"{table}.jsonl"


def record(table: Table) -> str:
    return match_record(table, hashlib.sha256(f"golden/{table}".encode()).digest())


if __name__ == "__main__":
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for entry in TABLES:
        path(entry).write_text(record(entry))
        print(path(entry).name)
    for game_id in GAMES:
        perft.path(game_id).write_text(perft.text(perft.of_game(game_id)))
        print(perft.path(game_id).name)

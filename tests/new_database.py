"""A new SQLite database for tests: a copy of one whose tables were created once per process."""

import tempfile
from functools import cache
from pathlib import Path

from arena.store import database


@cache
def _content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        engine = database.open(f"sqlite:///{folder}/arena.db")
        database.upgrade(engine)
        engine.dispose()
        return Path(folder, "arena.db").read_bytes()


def write_new_database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_content())

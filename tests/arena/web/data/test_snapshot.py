"""The snapshot of a store for the pages."""

from pathlib import Path
from typing import Any

from sqlalchemy import event, update

from arena.store import database, schema
from arena.web.data.snapshot import SnapshotReader
from tests.arena.records.bundle.simulated_arena import SimulatedArena


def test_a_store_that_cannot_be_written_is_shown(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    begun = arena.begin("round-robin", arena.bots(3))
    arena.wave(1)
    with database.writing(arena.engine) as connection:
        connection.execute(update(schema.closings).values(at=0))
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")

    @event.listens_for(engine, "connect")
    def forbid_writing(connection: Any, entry: object) -> None:
        connection.execute("PRAGMA query_only = ON")

    snapshot = SnapshotReader(engine).read()
    assert snapshot is not None
    assert [tournament.id for tournament, _ in snapshot.open_tournaments] == [begun.id]

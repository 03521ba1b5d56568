"""Records of closed matches move to the object storage in the background."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from obstore.store import MemoryStore
from sqlalchemy import Engine, func, select, update

from arena.config import Folder
from arena.services import file_archiver
from arena.services.file_archiver import FileArchiver
from arena.services.queue import redis_server
from arena.store import database, schema
from arena.store.events import incidents
from arena.store.matches import match_leases, results
from arena.store.objects import object_storage, record_archive
from arena.store.objects.object_storage import ObjectStorage, StorageUnavailable
from arena.store.schema import ClosingKind
from arena.system import redis_connection
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.errors import has_code
from tests.waiting import wait_until


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    """Play a tournament of three matches."""
    arena = SimulatedArena(tmp_path)
    arena.begin("round-robin", arena.bots(3))
    for match in match_leases.due(arena.engine):
        arena.play(match)
    yield arena
    arena.engine.dispose()


@pytest.fixture
def storage(arena: SimulatedArena) -> ObjectStorage:
    storage = ObjectStorage(MemoryStore(), "memory")
    object_storage.bind(arena.engine, storage)
    return storage


def archived(engine: Engine) -> int:
    return 3 - len(record_archive.in_database(engine))


def test_matches_are_archived_once(arena: SimulatedArena, storage: ObjectStorage) -> None:
    archiver = FileArchiver(arena.engine, wait=0)
    assert archiver.run_round() == 3
    assert archiver.run_round() == 0
    assert FileArchiver(arena.engine, wait=0).run_round() == 0
    assert len(list(storage.listing())) == 3


def test_no_match_is_skipped_after_a_step_of_the_clock(
    arena: SimulatedArena, storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, archiver = schema.closings, FileArchiver(arena.engine)
    first = select(func.min(table.c.seq)).where(table.c.kind == ClosingKind.MATCH_CLOSED)
    is_first = table.c.seq == first.scalar_subquery()
    with database.writing(arena.engine) as connection:
        connection.execute(update(table).where(~is_first).values(at=1000.0))
    # The others wait for the first match, whose time is the right one.
    assert archiver.run_round() == 0
    with database.writing(arena.engine) as connection:
        connection.execute(update(table).where(is_first).values(at=database.now() + 1000))
    monkeypatch.setattr(file_archiver, "_BATCH_SIZE", 1)
    assert archiver.run_round() == 3


def test_matches_are_archived_an_hour_after_their_end(
    arena: SimulatedArena, storage: ObjectStorage
) -> None:
    assert FileArchiver(arena.engine).run_round() == 0
    assert archived(arena.engine) == 0


def test_a_match_is_archived_after_an_outage(
    arena: SimulatedArena, storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    archiver, put, keys = FileArchiver(arena.engine, wait=0), storage.put, list[str]()

    def fail_second(key: str, *content: object) -> None:
        keys.append(key)
        if len(keys) == 2:
            raise StorageUnavailable("the network failed.", code="cannot-connect")
        put(key, *content)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "put", fail_second)
    with pytest.raises(StorageUnavailable, check=has_code("cannot-connect")):
        archiver.run_round()
    assert archived(arena.engine) == 1
    assert archiver.run_round() == 2
    assert archived(arena.engine) == 3


def test_the_thread_archives_until_it_is_stopped(
    arena: SimulatedArena, storage: ObjectStorage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "arena.archiver")
    archiver = FileArchiver(arena.engine, wait=0)
    archiver.start()
    wait_until(lambda: archived(arena.engine) == 3)
    wait_until(lambda: caplog.messages)
    archiver.stop()
    assert caplog.messages == ["matches whose records were moved to object storage: 3"]
    for match in record_archive.in_database(arena.engine):
        assert results.record(arena.engine, match)


def test_an_outage_is_counted(
    arena: SimulatedArena, storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`doctor` shows the last failure, and the metrics count them."""

    def refuse(*_: object) -> None:
        raise StorageUnavailable("the network failed.", code="cannot-connect")

    monkeypatch.setattr(storage, "put", refuse)
    with redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address:
        archiver = FileArchiver(arena.engine, address.url, wait=0)
        archiver.start()
        with redis_connection.connect(address.url) as connection:
            wait_until(lambda: incidents.read(connection).errors)
            archiver.stop()
            found = incidents.read(connection)
    assert found.failures == {"archiver": 1}
    assert found.errors == {"archiver": "StorageUnavailable: the network failed."}


def test_without_object_storage_nothing_runs(arena: SimulatedArena) -> None:
    object_storage.bind(arena.engine, None)
    archiver = FileArchiver(arena.engine, wait=0)
    archiver.start()
    archiver.stop()
    assert archived(arena.engine) == 0

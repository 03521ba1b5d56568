"""Records of finished matches in the object storage."""

import io
import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from arena.store import backup_file, consistency, database, schema
from arena.store.bots import owner_data
from arena.store.matches import match_leases, raw_rows, results
from arena.store.objects import object_storage, record_archive, stored_objects
from arena.store.objects.object_storage import ObjectStorage, ObjectStorageError
from tests.arena.store.objects.conftest import records, states
from tests.errors import has_code


def quiet(what: str, done: int, of: int) -> None:
    """Ignore the progress."""


def test_archived_records_are_read_as_before(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    before, rows = results.record(store, finished), records(store, finished)
    games = [results.game_record(store, finished, game) for game in range(2)]
    assert record_archive.archive(store, storage, finished)
    assert not record_archive.archive(store, storage, finished)
    assert records(store, finished) == ["", ""]
    assert results.record(store, finished) == before
    assert [results.game_record(store, finished, game) for game in range(2)] == games
    (rows_of_match,) = [match for match in next(raw_rows.batches(store)) if match.id == finished]
    assert [row["record"] for row in rows_of_match.games] == rows
    assert list(consistency.problems(store, quiet)) == []
    assert record_archive.restore(store, finished)
    assert not record_archive.restore(store, finished)
    assert records(store, finished) == rows
    assert stored_objects.sweep(store, storage) == 1
    assert list(storage.listing()) == []


def test_an_open_match_is_not_archived(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    (match,) = match_leases.due(store)
    assert match != finished
    assert not record_archive.archive(store, storage, match)
    assert not record_archive.archive(store, storage, "unknown")
    assert record_archive.in_database(store) == [finished]


def test_only_matches_that_closed_long_ago_are_due(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    assert record_archive.due(store, 0, 60, 10) == ([], 0)
    matches, position = record_archive.due(store, 0, 0, 10)
    assert matches == [finished]
    assert record_archive.due(store, position, 0, 10) == ([], position)
    record_archive.archive(store, storage, finished)
    assert record_archive.due(store, 0, 0, 10) == ([], position)


@pytest.mark.parametrize("changes", [1, 2])
def test_records_that_change_while_they_are_archived_are_read_again_once(
    changes: int,
    store: Engine,
    storage: ObjectStorage,
    finished: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put, texts = storage.put, ["first", "second"][:changes]

    def change(*arguments: object) -> None:
        put(*arguments)  # type: ignore[arg-type]
        if texts:
            with database.writing(store) as connection:
                connection.execute(update(schema.games).values(record=texts.pop(0)))

    monkeypatch.setattr(storage, "put", change)
    assert record_archive.archive(store, storage, finished) == (changes == 1)
    assert records(store, finished) == ([""] * 2 if changes == 1 else ["second"] * 2)
    assert sorted(states(store)) == (["garbage", "stored"] if changes == 1 else ["garbage"] * 2)


def test_the_data_of_an_owner_is_deleted_from_archived_records(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    record_archive.archive(store, storage, finished)
    (key,) = storage.listing()

    def redacted(record: str) -> str:
        return record.replace("last words", "")

    for _ in range(2):
        owner_data.redact(store, finished, ("bot1@1",), redacted)
    assert "last words" not in results.record(store, finished)
    assert stored_objects.sweep(store, storage) == 1
    (replaced,) = storage.listing()
    assert replaced != key
    record_archive.restore(store, finished)
    owner_data.redact(store, finished, ("bot1@1",), lambda record: record.replace("x", "y"))
    assert "yyy" in results.record(store, finished)


def test_records_that_are_archived_during_a_deletion_are_redacted(
    store: Engine, storage: ObjectStorage, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = record_archive.rewrite
    calls: list[record_archive.RewrittenRecords] = []

    def archive_meanwhile(*arguments: object) -> record_archive.RewrittenRecords:
        rewritten = rewrite(*arguments)  # type: ignore[arg-type]
        if not calls:
            record_archive.archive(store, storage, finished)
        calls.append(rewritten)
        return rewritten

    monkeypatch.setattr(record_archive, "rewrite", archive_meanwhile)
    owner_data.redact(store, finished, (), lambda record: record.replace("last words", ""))
    assert len(calls) == 2
    assert "last words" not in results.record(store, finished)
    assert records(store, finished) == ["", ""]


def missing(store: Engine, match: str) -> str:
    (rows,) = [rows for rows in next(raw_rows.batches(store)) if rows.id == match]
    return rows.missing


def test_lost_and_damaged_objects_are_reported(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    record_archive.archive(store, storage, finished)
    (key,) = storage.listing()
    storage.put(key, io.BytesIO(b"changed"))
    with pytest.raises(ObjectStorageError, check=has_code("object-damaged")):
        results.record(store, finished)
    assert "is damaged" in missing(store, finished)
    storage.delete(key)
    with pytest.raises(ObjectStorageError, check=has_code("records-missing")):
        results.game_record(store, finished, 0)
    assert finished in missing(store, finished)


def test_archived_records_need_the_setting(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    record_archive.archive(store, storage, finished)
    object_storage.bind(store, None)
    with pytest.raises(ObjectStorageError, check=has_code("not-configured")):
        results.record(store, finished)


def test_a_backup_refers_to_the_objects(
    store: Engine, storage: ObjectStorage, finished: str, tmp_path: Path
) -> None:
    record_archive.archive(store, storage, finished)
    before = results.record(store, finished)
    stored_objects.write(store, storage, schema.ObjectKind.BUILD, "s", io.BytesIO())
    backup_file.backup(store, tmp_path / "kept.db", quiet)
    other = database.open(f"sqlite:///{tmp_path}/other.db")
    object_storage.bind(other, storage)
    backup_file.restore(other, tmp_path / "kept.db", quiet)
    assert results.record(other, finished) == before
    # The other arena may settle the unfinished object.
    assert states(other) == ["stored"]
    other.dispose()


def test_records_are_compressed(store: Engine, storage: ObjectStorage, finished: str) -> None:
    size = sum(map(len, records(store, finished)))
    record_archive.archive(store, storage, finished)
    (key,) = storage.listing()
    assert 2 * storage.size(key) < size
    assert json.loads(results.game_record(store, finished, 0).splitlines()[0])["game"] == 0

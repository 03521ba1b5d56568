"""Builds in the object storage, and moves of all files to it and back."""

import io
import os
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from arena.store import consistency, database, schema
from arena.store.bots import owner_data, owners, stored_builds, versions
from arena.store.matches import results
from arena.store.objects import file_moves, object_storage, stored_objects
from arena.store.objects.file_moves import MovedFiles
from arena.store.objects.object_storage import ObjectStorage, ObjectStorageError
from tests.arena.store.objects.conftest import states
from tests.errors import has_code

PACKED = os.urandom(5 * stored_builds.PIECE // 2)


def quiet(what: str, done: int, of: int) -> None:
    """Ignore the progress."""


def keep(store: Engine, content_hash: str = "c" * 64, packed: bytes = PACKED) -> None:
    stored_builds.keep_build(store, content_hash, io.BytesIO(packed), trusted=True)


def fetched(store: Engine, content_hash: str = "c" * 64) -> bytes:
    build, output = stored_builds.find_build(store, content_hash), io.BytesIO()
    assert build is not None
    stored_builds.fetch(store, build, output)
    return output.getvalue()


def pieces(store: Engine) -> int:
    with database.reading(store) as connection:
        query = select(func.count()).select_from(schema.crate_pieces)
        return int(connection.execute(query).scalar_one())


def test_a_build_is_kept_as_an_object(store: Engine, storage: ObjectStorage) -> None:
    keep(store)
    keep(store)
    assert pieces(store) == 0
    assert fetched(store) == PACKED
    assert sorted(states(store)) == ["garbage", "stored"]
    stored_objects.sweep(store, storage)
    (key,) = storage.listing()
    build = stored_builds.find_build(store, "c" * 64)
    assert build is not None
    assert (build.key, build.bytes, build.trusted) == (key, len(PACKED), True)


def test_files_move_to_objects_and_back(
    store: Engine, storage: ObjectStorage, finished: str
) -> None:
    object_storage.bind(store, None)
    keep(store)
    record = results.record(store, finished)
    object_storage.bind(store, storage)
    keep(store, "d" * 64)
    assert file_moves.to_objects(store, quiet) == MovedFiles(1, 1, 0)
    assert file_moves.to_objects(store, quiet) == MovedFiles(0, 0, 0)
    assert pieces(store) == 0
    assert len(list(storage.listing())) == 3
    assert (fetched(store), results.record(store, finished)) == (PACKED, record)
    assert list(consistency.problems(store, quiet)) == []
    assert list(file_moves.problems(store, quiet)) == []
    assert file_moves.to_database(store, quiet) == MovedFiles(2, 1, 3)
    assert file_moves.to_database(store, quiet) == MovedFiles(0, 0, 0)
    object_storage.bind(store, None)
    assert (fetched(store), fetched(store, "d" * 64)) == (PACKED, PACKED)
    assert results.record(store, finished) == record
    assert list(storage.listing()) == []
    assert list(consistency.problems(store, quiet)) == []


@pytest.mark.parametrize("is_outward", [True, False])
def test_an_interrupted_move_continues(
    store: Engine,
    storage: ObjectStorage,
    finished: str,
    monkeypatch: pytest.MonkeyPatch,
    is_outward: bool,
) -> None:
    move, name = (file_moves.to_objects, "put") if is_outward else (file_moves.to_database, "read")
    if is_outward:
        object_storage.bind(store, None)
    for number in range(3):
        keep(store, f"{number:064x}", PACKED[number:])
    object_storage.bind(store, storage)
    if not is_outward:
        file_moves.to_objects(store, quiet)
    calls, function = [], getattr(storage, name)

    def fail(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 4:
            raise ObjectStorageError("the network failed.", code="cannot-connect")
        return function(*arguments)

    with monkeypatch.context() as patch:
        # The probe writes and reads one object.
        patch.setattr(storage, name, fail)
        with pytest.raises(ObjectStorageError, check=has_code("cannot-connect")):
            move(store, quiet)
    for number in range(3):
        assert fetched(store, f"{number:064x}") == PACKED[number:]
    moved = move(store, quiet)
    assert 0 < moved.builds + moved.matches < 4
    for number in range(3):
        assert fetched(store, f"{number:064x}") == PACKED[number:]
    assert list(consistency.problems(store, quiet)) == []


def test_lost_objects_of_builds_are_reported(
    store: Engine, storage: ObjectStorage, tmp_path: Path
) -> None:
    keep(store)
    keep(store, "d" * 64, b"other")
    keys = sorted(storage.listing())
    storage.delete(keys[0])
    storage.put(keys[1], io.BytesIO(b"longer"))
    missing, changed = file_moves.problems(store, quiet)
    assert keys[0] in missing
    assert "has 6 instead of 5 bytes" in changed
    with pytest.raises(ObjectStorageError, check=has_code("object-missing")):
        fetched(store)
    with pytest.raises(ObjectStorageError, check=has_code("object-damaged")):
        fetched(store, "d" * 64)
    with database.writing(store) as connection:
        stored_objects.drop(connection, schema.ObjectKind.BUILD, "c" * 64)
    (problem,) = consistency.problems(store, quiet)
    assert problem == f"build archives lack files: {'c' * 64}."


def test_the_builds_of_a_deleted_owner_are_swept(store: Engine, storage: ObjectStorage) -> None:
    owners.add_owner(store, "ada")
    versions.add_version(store, "mine", "1", "c" * 64, "/mine", {}, "ada")
    keep(store)
    owner_data.forget(store, owner_data.survey(store, "ada"))
    assert stored_builds.find_build(store, "c" * 64) is None
    assert stored_objects.sweep(store, storage) == 1
    assert list(storage.listing()) == []


def test_a_move_needs_the_setting(store: Engine) -> None:
    object_storage.bind(store, None)
    for move in (file_moves.to_objects, file_moves.to_database):
        with pytest.raises(ObjectStorageError, check=has_code("not-configured")):
            move(store, quiet)

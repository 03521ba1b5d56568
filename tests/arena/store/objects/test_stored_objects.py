"""The references to objects: no crash loses an object or leaves one for ever."""

import io

import pytest
from sqlalchemy import Engine, update

from arena.errors import Conflict
from arena.store import database, schema
from arena.store.objects import stored_objects
from arena.store.objects.object_storage import ObjectStorage
from arena.store.objects.stored_objects import StoredObject
from arena.store.schema import ObjectKind
from tests.arena.store.objects.conftest import states
from tests.errors import has_code


def write(store: Engine, storage: ObjectStorage, content: bytes = b"content") -> StoredObject:
    return stored_objects.write(store, storage, ObjectKind.BUILD, "s", io.BytesIO(content))


def settle(store: Engine, written: StoredObject) -> None:
    with database.writing(store) as connection:
        stored_objects.settle(connection, written.key)


def find(store: Engine) -> StoredObject | None:
    with database.reading(store) as connection:
        return stored_objects.find_object(connection, ObjectKind.BUILD, "s")


def age(store: Engine, seconds: float) -> None:
    with database.writing(store) as connection:
        table = schema.stored_objects
        connection.execute(update(table).values(changed=table.c.changed - seconds))


def test_a_settled_object_is_found_and_kept(store: Engine, storage: ObjectStorage) -> None:
    written = write(store, storage)
    assert find(store) is None
    settle(store, written)
    assert find(store) == written
    age(store, 1e6)
    assert stored_objects.sweep(store, storage) == 0
    assert list(storage.listing()) == [written.key]
    assert written.key.startswith(f"builds/s/{written.digest}-")


def test_a_dropped_object_is_swept(store: Engine, storage: ObjectStorage) -> None:
    settle(store, write(store, storage))
    with database.writing(store) as connection:
        stored_objects.drop(connection, ObjectKind.BUILD, "s")
    assert find(store) is None
    assert stored_objects.sweep(store, storage) == 1
    assert list(storage.listing()) == []
    assert states(store) == []


def test_an_object_that_nothing_refers_to_is_swept_after_an_hour(
    store: Engine, storage: ObjectStorage
) -> None:
    written = write(store, storage)
    age(store, 3500)
    assert stored_objects.sweep(store, storage) == 0
    age(store, 200)
    assert stored_objects.sweep(store, storage) == 1
    assert list(storage.listing()) == []
    with pytest.raises(Conflict, check=has_code("object-abandoned")):
        settle(store, written)
    assert find(store) is None


def test_the_row_of_an_object_that_was_never_written_is_swept(
    store: Engine, storage: ObjectStorage
) -> None:
    written = write(store, storage)
    storage.delete(written.key)
    stored_objects.discard(store, written.key)
    assert stored_objects.sweep(store, storage) == 1
    assert states(store) == []


def test_writing_the_same_content_again_uses_another_key(
    store: Engine, storage: ObjectStorage
) -> None:
    first, second = write(store, storage), write(store, storage)
    assert first.key != second.key
    settle(store, first)
    stored_objects.discard(store, second.key)
    # A settled object cannot be discarded.
    stored_objects.discard(store, first.key)
    assert stored_objects.sweep(store, storage) == 1
    assert list(storage.listing()) == [first.key]


def test_objects_of_other_arenas_are_unknown(store: Engine, storage: ObjectStorage) -> None:
    write(store, storage)
    storage.put("other", io.BytesIO(b"other"))
    assert list(stored_objects.unknown(store, storage)) == ["other"]

"""Move build archives and records between the database and the object storage.

Each file is moved by one transaction. A move that is interrupted continues when it is started
again, and the arena may run meanwhile.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Engine, delete, select, update

from arena.store import schema
from arena.store.bots import stored_builds
from arena.store.database import read_rows, writing
from arena.store.objects import object_storage, record_archive, stored_objects
from arena.store.objects.object_storage import ObjectMissing, ObjectStorage
from arena.store.postgresql import lock_rows
from arena.store.schema import ObjectKind

Report = Callable[[str, int, int], None]
"""Progress callback: receives the label of the files, the number done and the total."""


@dataclass(frozen=True, slots=True)
class MovedFiles:
    """The result of a move.

    Attributes:
        builds: number of moved build archives.
        matches: number of matches whose records were moved.
        deleted: number of objects that were deleted, because nothing refers to them any more.
    """

    builds: int
    matches: int
    deleted: int


def to_objects(engine: Engine, report: Report) -> MovedFiles:
    """Move all build archives and the records of all finished matches to the object storage.

    Raises:
        ObjectStorageError: no object storage is set, or it cannot be used.
        StoreError: a stored build archive is damaged.
    """
    storage = object_storage.needed(engine)
    storage.probe()
    names = _builds_in_database(engine)
    builds = _each("builds", names, lambda name: _build_to_object(engine, storage, name), report)
    matches = record_archive.in_database(engine)
    moved = _each(
        "matches", matches, lambda name: record_archive.archive(engine, storage, name), report
    )
    return MovedFiles(builds, moved, stored_objects.sweep(engine, storage))


def to_database(engine: Engine, report: Report) -> MovedFiles:
    """Move all build archives and records from the object storage to the database.

    Raises:
        ObjectStorageError: no object storage is set, it cannot be used, or an object is missing or
            damaged.
    """
    storage = object_storage.needed(engine)
    names = stored_objects.subjects(engine, ObjectKind.BUILD)
    builds = _each("builds", names, lambda name: _build_to_database(engine, name), report)
    matches = stored_objects.subjects(engine, ObjectKind.RECORDS)
    moved = _each("matches", matches, lambda name: record_archive.restore(engine, name), report)
    return MovedFiles(builds, moved, stored_objects.sweep(engine, storage))


def problems(engine: Engine, report: Report) -> Iterator[str]:
    """Yield a sentence for each build archive whose object is missing or has another size.

    The check of the records reads their objects completely.

    Raises:
        ObjectStorageError: the object storage is not set, or cannot be used.
    """
    names = stored_objects.subjects(engine, ObjectKind.BUILD)
    for number, name in enumerate(names, 1):
        build = stored_builds.find_build(engine, name)
        if build is not None and build.key:
            try:
                size = object_storage.needed(engine).size(build.key)
            except ObjectMissing as error:
                yield str(error)
            else:
                if size != build.bytes:
                    yield f"the object {build.key} has {size} instead of {build.bytes} bytes."
        report("builds checked", number, len(names))


def _each(label: str, names: list[str], move: Callable[[str], bool], report: Report) -> int:
    moved = 0
    for number, name in enumerate(names, 1):
        moved += move(name)
        report(label, number, len(names))
    return moved


def _builds_in_database(engine: Engine) -> list[str]:
    table = schema.crates
    query = select(table.c.content_hash).where(table.c.pieces > 0).order_by(table.c.content_hash)
    return list(read_rows(engine, query).scalars())


def _build_to_object(engine: Engine, storage: ObjectStorage, content_hash: str) -> bool:
    builds, pieces = schema.crates, schema.crate_pieces
    build = stored_builds.find_build(engine, content_hash)
    if build is None or build.key:
        return False
    with tempfile.TemporaryFile() as packed:
        stored_builds.fetch(engine, build, packed)
        packed.seek(0)
        written = stored_objects.write(engine, storage, ObjectKind.BUILD, content_hash, packed)
    with writing(engine, "move_to_object") as connection:
        of_build = (builds.c.content_hash == content_hash, builds.c.pieces > 0)
        moved = connection.execute(update(builds).where(*of_build).values(pieces=0))
        if moved.rowcount == 1:
            stored_objects.settle(connection, written.key)
            connection.execute(delete(pieces).where(pieces.c.content_hash == content_hash))
    if moved.rowcount == 0:
        stored_objects.discard(engine, written.key)
    return moved.rowcount == 1


def _build_to_database(engine: Engine, content_hash: str) -> bool:
    build = stored_builds.find_build(engine, content_hash)
    if build is None or not build.key:
        return False
    with tempfile.TemporaryFile() as packed:
        stored_builds.fetch(engine, build, packed)
        packed.seek(0)
        with writing(engine, "move_to_database") as connection:
            table = schema.crates
            of_build = (table.c.content_hash == content_hash, table.c.pieces == 0)
            lock_rows(connection, select(table.c.content_hash).where(*of_build))
            if stored_objects.find_object(connection, ObjectKind.BUILD, content_hash) is None:
                return False
            _, number, _ = stored_builds.insert_pieces(connection, content_hash, packed)
            connection.execute(update(table).where(*of_build).values(pieces=number))
            stored_objects.drop(connection, ObjectKind.BUILD, content_hash)
    return True

"""Stores with an object storage in memory, and finished matches."""

from collections.abc import Callable

import pytest
from obstore.store import MemoryStore
from sqlalchemy import Engine, select

from arena.store import database, schema
from arena.store.objects import object_storage
from arena.store.objects.object_storage import ObjectStorage
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import commit, leased


@pytest.fixture
def storage(store: Engine) -> ObjectStorage:
    storage = ObjectStorage(MemoryStore(), "memory")
    object_storage.bind(store, storage)
    return storage


@pytest.fixture
def finished(store: Engine, schedule: Callable[..., Tournament]) -> str:
    """Play a match of two games, the second with a fault; another one stays open."""
    schedule(bots=2, boards=1, cycles=2)
    lease = leased(store)
    for number in range(lease.spec.games):
        commit(store, lease, number, fault="timeout" if number else None, padding=100)
    return lease.match


def records(store: Engine, match: str) -> list[str]:
    table = schema.games
    query = select(table.c.record).where(table.c.match == match).order_by(table.c.game)
    with database.reading(store) as connection:
        return list(connection.execute(query).scalars())


def states(store: Engine) -> list[str]:
    with database.reading(store) as connection:
        return sorted(connection.execute(select(schema.stored_objects.c.state)).scalars())

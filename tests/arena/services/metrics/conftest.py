"""Provide an arena without workers whose metrics the tests collect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from arena.queue import redis_server
from arena.services.metrics_collector import ArenaCollector
from arena.system import redis_connection
from tests.arena.services.metrics.arena import Asked


@pytest.fixture
def metrics_arena(tmp_path: Path) -> Iterator[Asked]:
    """Yield the arena; its collector counts matches that close from now on."""
    Workspace(tmp_path / "data").store.dispose()
    place = Workspace(tmp_path / "data")
    with redis_server.resolve(place.folder, {}) as address:
        connection = redis_connection.connect(address.url)
        collector = ArenaCollector(place.store, connection)
        collector.count()
        yield Asked(place, connection, collector)
        connection.close()
    place.store.dispose()

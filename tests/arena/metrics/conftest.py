"""An arena without workers, of which figures are asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena import queue, redis_server
from arena.cli.place import Place
from arena.metrics.collector import ArenaCollector
from tests.arena.metrics.arena import Asked


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """The arena; what closes is counted from now on."""
    Place(tmp_path / "data").store.dispose()
    place = Place(tmp_path / "data")
    with redis_server.resolve(place.folder, {}) as address:
        connection = queue.connect(address.url)
        collector = ArenaCollector(place.store, connection)
        collector.count()
        yield Asked(place, connection, collector)
        connection.close()
    place.store.dispose()

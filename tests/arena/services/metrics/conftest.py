"""Provide an arena without workers whose metrics the tests collect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from arena.services.metrics_collector import ArenaCollector
from arena.system import redis_connection
from tests.arena.services.metrics.metrics_arena import MetricsArena


@pytest.fixture
def metrics_arena(redis_url: str, tmp_path: Path) -> Iterator[MetricsArena]:
    """Yield the arena; its collector counts matches that close from now on."""
    Workspace(tmp_path / "data").store.dispose()
    workspace = Workspace(tmp_path / "data")
    connection = redis_connection.connect(redis_url)
    collector = ArenaCollector(workspace.store, connection)
    collector.count()
    yield MetricsArena(workspace, connection, collector)
    connection.close()
    workspace.store.dispose()

"""Provide an arena with simulated games, and a client of its pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.records.bundle.simulated_arena import SimulatedArena


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path)
    yield made
    made.engine.dispose()


@pytest.fixture
def client(simulated_arena: SimulatedArena) -> Iterator[TestClient]:
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        yield client

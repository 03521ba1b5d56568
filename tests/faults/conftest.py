"""For the fault suite: an arena to shoot at, and the table of what came out."""

import os
from collections.abc import Callable, Iterator

import pytest

from tests.cluster import Cluster, cluster
from tests.faults import processes
from tests.faults.checker import Tally, check
from tests.faults.stage import Arena
from tests.faults.witness import Witness

Conclude = Callable[..., Tally]


@pytest.fixture
def arena() -> Iterator[Arena]:
    """An arena with an empty store."""
    arena = Arena()
    with processes.orphanage():
        yield arena
    # Kept for whoever wants to know why it failed.
    if not os.environ.get("KEEP"):
        arena.remove()


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """A PostgreSQL server."""
    server = cluster()
    yield server
    server.remove()


@pytest.fixture
def conclude(record_property: Callable[[str, object], None]) -> Conclude:
    """Checks an arena, and has the counts shown at the end."""

    def conclude(arena: Arena, witness: Witness, run: str) -> Tally:
        tally = check(arena, witness, run)
        record_property("faults", tally.to_json())
        return tally

    return conclude

"""Fixtures of the fault suite: an arena, a PostgreSQL server, and the table of counts."""

import os
from collections.abc import Callable, Iterator

import pytest

from tests.cluster import Cluster, cluster
from tests.faults import processes
from tests.faults.checker import Tally, check
from tests.faults.fault_arena import Arena
from tests.faults.witness import Witness

Conclude = Callable[..., Tally]


@pytest.fixture
def arena() -> Iterator[Arena]:
    arena = Arena()
    with processes.orphanage():
        yield arena
    # With KEEP=1 the data folder remains, so that a failure can be examined.
    if not os.environ.get("KEEP"):
        arena.remove()


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    server = cluster()
    yield server
    server.remove()


@pytest.fixture
def conclude(record_property: Callable[[str, object], None]) -> Conclude:
    """Return a function that checks an arena and adds its counts to the table."""

    def conclude(arena: Arena, witness: Witness, run: str) -> Tally:
        tally = check(arena, witness, run)
        record_property("faults", tally.to_json())
        return tally

    return conclude

"""Provide one Redis for the tests of services."""

from collections.abc import Iterator

import pytest

from arena.config import Folder
from arena.services.queue import redis_server
from arena.system import redis_connection


@pytest.fixture(scope="session")
def redis_server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Redis for all tests of this process."""
    folder = Folder(tmp_path_factory.mktemp("redis") / "data")
    with redis_server.resolve(folder, {}) as address:
        yield address.url


@pytest.fixture
def redis_url(redis_server_url: str) -> str:
    """Return the URL of an empty Redis."""
    connection = redis_connection.connect(redis_server_url)
    connection.flushall()
    connection.close()
    return redis_server_url

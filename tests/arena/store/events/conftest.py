"""A Valkey for the tests of a module, without keys at the start of each test."""

from collections.abc import Iterator

import pytest
from redis import Redis

from arena.config import Folder
from arena.services.queue import redis_server
from arena.system import redis_connection


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = Folder(tmp_path_factory.mktemp("redis") / "data").create()
    with redis_server.resolve(folder, {}) as address:
        yield address.url


@pytest.fixture
def connection(redis_url: str) -> Iterator[Redis]:
    with redis_connection.connect(redis_url) as connection:
        connection.flushall()
        yield connection

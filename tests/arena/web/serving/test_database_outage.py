"""Responses of the web server while its database does not run."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from arena.store import database
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.cluster import Cluster, cluster

pytestmark = pytest.mark.long


@pytest.fixture
def server() -> Iterator[Cluster]:
    server = cluster()
    yield server
    server.remove()


@pytest.fixture
def store(server: Cluster) -> Iterator[Engine]:
    engine = database.open(server.url(server.migrated_template()))
    yield engine
    engine.dispose()


def test_requests_are_answered_with_503_until_the_database_runs_again(
    server: Cluster, store: Engine
) -> None:
    with TestClient(create(WebState(store, ServerSettings(rate=0)))) as client:
        assert client.get("/matches/m-1").status_code == 404
        server.stop()
        for answer in (
            client.get("/matches/m-1"),
            client.get("/matches/m-1.json"),
            client.get("/matches/m-1.jsonl"),
            client.get("/organiser", headers={"Authorization": "Bearer x"}),
            client.post("/sign-in", data={"token": "x"}),
        ):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "10"), answer.url
        server.start()
        assert client.get("/matches/m-1").status_code == 404

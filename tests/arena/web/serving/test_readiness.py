"""The health probes `/healthz` and `/readyz`."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.services.queue import redis_server
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.waiting import wait_until


def created_arena(folder: Path) -> Workspace:
    """Return an arena whose database exists, so that its loss is detected."""
    Workspace(folder / "data").store.dispose()
    return Workspace(folder / "data")


def test_the_server_is_ready_with_database_and_redis(tmp_path: Path) -> None:
    workspace = created_arena(tmp_path)
    with redis_server.resolve(workspace.folder, {}) as address:
        settings = ServerSettings(redis=address.url)
        with TestClient(create(WebState(workspace.store, settings))) as client:
            answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ready\n")


def test_the_server_is_ready_without_redis_and_reports_it(tmp_path: Path) -> None:
    settings = ServerSettings(redis=f"unix://{tmp_path}/nobody.sock")
    with TestClient(create(WebState(created_arena(tmp_path).store, settings))) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.text.startswith("ready, but Redis")


@pytest.mark.long
def test_the_server_is_alive_but_not_ready_without_its_database(tmp_path: Path) -> None:
    workspace = created_arena(tmp_path)
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        assert client.get("/readyz").status_code == 200
        database = workspace.folder.database
        workspace.store.dispose()
        database.rename(tmp_path / "away.db")
        wait_until(lambda: client.get("/readyz").status_code != 200)
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "cannot read the database\n")
        assert client.get("/healthz").status_code == 200
        (tmp_path / "away.db").rename(database)
        wait_until(lambda: client.get("/readyz").status_code != 503)

"""Pages show the sandboxes of workers, and the matches that wait because of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.services.queue import redis_server, worker_list
from arena.services.queue.worker_registrations import SandboxState
from arena.store.access import organisers
from arena.store.bots import versions
from arena.store.matches import listing
from arena.system import redis_connection
from arena.tournaments import scheduler
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.poke_plan import poke_plan
from tests.arena.pushed_version import add_pushed_version
from tests.arena.registered_worker import add_worker

WAITS = "Matches of pushed bots wait"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    with redis_server.resolve(Workspace(tmp_path / "data").folder, {}) as address:
        connection = redis_connection.connect(address.url)
        yield connection
        connection.close()


@pytest.fixture
def web(tmp_path: Path, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebState]:
    monkeypatch.setattr(worker_list, "_KEPT_SECONDS", 0.0)
    workspace = Workspace(tmp_path / "data")
    for name in "abc":
        versions.add_version(workspace.store, name, "1", name * 64, f"/{name}", {})
    plan = poke_plan()
    scheduler.begin(workspace.store, plan, ["a@1", "b@1", "c@1"])
    add_pushed_version(workspace.store, versions.find_version(workspace.store, "a@1"))
    path = redis.get_connection_kwargs()["path"]
    yield WebState(workspace.store, ServerSettings(rate=0, redis=f"unix://{path}"))
    workspace.store.dispose()


@pytest.fixture
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web)) as client:
        yield client


def test_pages_name_the_reason_why_matches_wait(
    client: TestClient, web: WebState, redis: Redis
) -> None:
    matches = {match.entrants: match for match in listing.matches(web.engine)}
    pushed = next(match for names, match in matches.items() if "a@1" in names)
    house = next(match for names, match in matches.items() if "a@1" not in names)
    add_worker(redis, "w1", SandboxState("landlock", "landlock", plays_pushed=False))
    assert WAITS in client.get(f"/tournaments/{pushed.tournament}").text
    assert WAITS in client.get(f"/matches/{pushed.id}").text
    assert client.get(f"/matches/{pushed.id}.json").json()["waits"].startswith(WAITS)
    assert client.get(f"/matches/{house.id}.json").json()["waits"] is None


def test_the_organiser_sees_the_levels_of_all_workers(
    client: TestClient, web: WebState, redis: Redis
) -> None:
    client.post("/sign-in", data={"token": organisers.add_organiser(web.engine, "grace")})
    assert "No worker is registered" in client.get("/organiser").text
    add_worker(redis, "w1", SandboxState("bubblewrap", "bubblewrap"))
    add_worker(redis, "w2", SandboxState("landlock", "bubblewrap"))
    text = client.get("/organiser").text
    assert "w2 runs bots at the level landlock, below the level bubblewrap" in text
    assert "different sandbox levels: bubblewrap, landlock" in text
    overview = client.get("/organiser", headers={"Accept": "application/json"}).json()
    assert [each["sandbox"] for each in overview["workers"]] == ["bubblewrap", "landlock"]
    assert len(overview["sandbox_problems"]) == 2

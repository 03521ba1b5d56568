"""Pages of matches whose records are in the object storage."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from obstore.store import MemoryStore
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.objects import object_storage, record_archive
from arena.store.objects.object_storage import ObjectStorage
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.closed_matches import StoredMatch, play, table


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


@pytest.fixture
def storage(workspace: Workspace) -> ObjectStorage:
    storage = ObjectStorage(MemoryStore(), "memory")
    object_storage.bind(workspace.store, storage)
    return storage


@pytest.fixture
def stored(workspace: Workspace) -> StoredMatch:
    return play(workspace, table("saint_poker-2"))


@pytest.fixture
def client(workspace: Workspace, stored: StoredMatch) -> Iterator[TestClient]:
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        yield client


def test_archived_matches_have_the_same_pages(
    client: TestClient, workspace: Workspace, storage: ObjectStorage, stored: StoredMatch
) -> None:
    pages = [f"/matches/{stored.match}.jsonl", f"/matches/{stored.match}/games/0.json"]
    before = [client.get(page).text for page in pages]
    assert record_archive.archive(workspace.store, storage, stored.match)
    assert [client.get(page).text for page in pages] == before


def test_an_outage_of_the_object_storage_is_answered_with_503(
    client: TestClient, workspace: Workspace, storage: ObjectStorage, stored: StoredMatch
) -> None:
    record_archive.archive(workspace.store, storage, stored.match)
    object_storage.bind(workspace.store, None)
    answer = client.get(f"/matches/{stored.match}/games/0.json")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert answer.json()["error"].startswith("the record of this match cannot be read now")
    # Pages that need no record are not affected.
    assert client.get("/").status_code == 200

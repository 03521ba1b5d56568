"""The page of an owner shows their bots, submissions and faults, and no data of other owners."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.access import audit_log
from arena.store.bots import owners, versions
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.management.test_management_access import sign_in
from tests.arena.web.stored_submissions import add_submission


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> WebState:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    store_tournament(workspace, ["mybot", "bob", "cy"], {})
    for name, owner in (("mybot", "ada"), ("bob", "eve")):
        versions.set_owner(
            workspace.store, versions.find_version(workspace.store, f"{name}@1"), owner
        )
    add_submission(workspace)
    add_submission(workspace, owner="eve", name="secret", content="6")
    return WebState(workspace.store, ServerSettings(rate=0))


@pytest.fixture(scope="module")
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web), follow_redirects=False) as client:
        yield client


def test_an_owner_manages_only_own_bots(client: TestClient, web: WebState) -> None:
    token = owners.add_owner(web.engine, "ada")
    bearer = {"Authorization": f"Bearer {token}"}
    account = client.get("/account", headers=bearer).json()
    assert [each["version"] for each in account["versions"]] == ["mybot@1"]
    assert {each["owner"] for each in account["submissions"]} == {"ada"}
    for version, status in (("bob@1", 403), ("nobody@1", 404), ("mybot@1", 200)):
        answer = client.post("/account/retire", json={"version": version}, headers=bearer)
        assert answer.status_code == status
    assert versions.find_version(web.engine, "bob@1").retired is None
    foreign = {"bot": "bob", "opponent": "cy"}
    assert client.post("/account/challenges", json=foreign, headers=bearer).status_code == 403
    (entry,) = audit_log.list_entries(web.engine, subject="mybot@1")
    assert (entry.action, entry.actor, entry.role) == ("account.retire", "ada", "owner")


def test_an_owner_signs_in_to_their_page(client: TestClient, web: WebState) -> None:
    client.headers["Accept"] = "text/html"
    sent = {"form_token": sign_in(client, owners.add_owner(web.engine, "eve"))}
    page = client.get("/account")
    assert page.headers["cache-control"] == "no-store"
    assert "bob@1" in page.text
    assert "/account/retire?version=bob%401" in page.text
    assert "/account/retire?version=mybot%401" not in page.text
    assert "mybot</b>" not in page.text
    made = client.post("/account/challenges", data={"bot": "bob", "opponent": "cy", **sent})
    assert made.status_code == 303
    owners.revoke(web.engine, "eve")
    assert client.get("/account").headers["location"] == "/sign-in"


def test_the_page_shows_ratings_results_and_what_is_left_today(
    client: TestClient, web: WebState
) -> None:
    versions.set_owner(web.engine, versions.find_version(web.engine, "cy@1"), "kim")
    client.portal.call(web.read_store)  # type: ignore[union-attr]
    token = owners.add_owner(web.engine, "kim")
    bearer = {"Authorization": f"Bearer {token}"}
    made = client.post("/account/challenges", json={"opponent": "bob"}, headers=bearer)
    assert made.status_code == 201
    account = client.get("/account", headers=bearer).json()
    assert [(row["ladder"], row["version"]) for row in account["ratings"]] == [("poke", "cy@1")]
    today = account["today"]
    assert (today["challenges"]["used"], today["challenges"]["left"]) == (1, 9)
    assert (today["pushes"]["used"], today["pushes"]["left"]) == (0, 50)
    client.cookies.clear()
    client.headers["Accept"] = "text/html"
    sent = {"form_token": sign_in(client, token)}
    text = client.get("/account").text
    assert "/ladders/poke" in text
    assert len(text) < 60_000
    refused = client.post("/account/challenges", data={"opponent": "bbo", **sent})
    assert refused.status_code in (404, 422)
    assert 'role="alert"' in refused.text
    button = re.search(
        r'name="bot" value="cy@1"><input type="hidden" name="opponent" value="([^"]+)"', text
    )
    assert button is not None
    values = {"bot": "cy@1", "opponent": button.group(1), "boards": "1"}
    assert client.post("/account/challenges", data={**values, **sent}).status_code == 303
    asked = client.get("/account/retire?version=cy@1")
    assert asked.status_code == 200
    assert client.get("/account/retire?version=bob@1").status_code == 403
    assert versions.find_version(web.engine, "cy@1").retired is None


@pytest.mark.parametrize("boards", ["0", "-1", "--5", "1.5", "x"])
def test_a_challenge_with_a_wrong_number_of_boards_is_refused(
    client: TestClient, web: WebState, boards: str
) -> None:
    owner = f"dan{len(owners.list_owners(web.engine))}"
    bearer = {"Authorization": f"Bearer {owners.add_owner(web.engine, owner)}"}
    values = {"bot": "cy", "opponent": "bob", "boards": boards}
    for answer in (
        client.post("/challenges", params=values, headers=bearer),
        client.post("/account/challenges", json=values, headers=bearer),
    ):
        assert answer.status_code == 422

"""The web server, as browsers and programs use it."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.waiting import wait_until

ORDER = {
    frozenset({"ada@1", "bob@1"}): [("ada@1", "bob@1")],
    frozenset({"ada@1", "cy@1"}): [("ada@1", "cy@1")],
    frozenset({"bob@1", "cy@1"}): [("bob@1", "cy@1")],
}


def arena_in(folder: Path) -> Workspace:
    """Return an arena with a ladder of three bots."""
    workspace = Workspace(folder / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], ORDER, boards=3, cycles=3)
    return workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return arena_in(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        yield client


def test_the_ladder_has_equal_content_in_every_format(client: TestClient) -> None:
    page = client.get("/ladders/poke")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text.index("ada") < page.text.index("bob") < page.text.index("cy<")
    document = client.get("/ladders/poke.json").json()
    assert [line["entrant"] for line in document["standings"]] == ["ada@1", "bob@1", "cy@1"]
    rows = list(csv.DictReader(io.StringIO(client.get("/ladders/poke.csv").text)))
    assert [row["bot"] for row in rows] == ["ada@1", "bob@1", "cy@1"]
    in_browser = client.get("/ladders/poke.csv", headers={"Accept": "text/html,*/*;q=0.8"})
    assert in_browser.text == "\ufeff" + client.get("/ladders/poke.csv").text
    text = client.get("/ladders/poke", headers={"Accept": "text/plain"}).text.splitlines()
    assert [line.split()[1] for line in text[2:]] == ["ada@1", "bob@1", "cy@1"]
    assert "| ada@1 |" in client.get("/ladders/poke.md").text


def test_the_address_sorts_and_searches_a_ladder(client: TestClient) -> None:
    def names(query: str) -> list[str]:
        standings = client.get(f"/ladders/poke.json?{query}").json()["standings"]
        return [line["entrant"] for line in standings]

    assert names("sort=-bot") == ["cy@1", "bob@1", "ada@1"]
    assert names("sort=-rank") == ["cy@1", "bob@1", "ada@1"]
    assert names("sort=strength") == ["ada@1", "bob@1", "cy@1"]
    assert names("find=B") == ["bob@1"]
    assert names("find=nobody") == []


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/ladders/whist", 404),
        ("/nowhere", 404),
        ("/ladders/poke?sort=luck", 400),
        ("/live/ladders/whist", 404),
    ],
)
def test_invalid_requests_are_refused(client: TestClient, address: str, status: int) -> None:
    answer = client.get(address, headers={"Accept": "application/json"})
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert client.get(address).status_code == status


@pytest.mark.parametrize(
    ("address", "sentence", "link"),
    [
        ("/matches/m-none", "Unknown match m-none; /matches lists all.", "/matches"),
        ("/matches/m-none/games/0", "Unknown match m-none; /matches lists all.", "/matches"),
        ("/tournaments/t-1", "Unknown tournament t-1; /tournaments lists all.", "/tournaments"),
        ("/bots/nobody", "Unknown bot nobody.", "/bots"),
        ("/ladders/whist", 'Unknown ladder "whist"; available: poke.', "/ladders"),
    ],
)
def test_the_page_of_an_unknown_object_links_the_list_instead_of_naming_a_command(
    client: TestClient, address: str, sentence: str, link: str
) -> None:
    page = client.get(address, headers={"Accept": "text/html"})
    assert page.status_code == 404
    main = page.text[page.text.index("<h1>") :]
    assert f"<p>{sentence}</p>" in unescape(main)
    assert f'<p><a href="{link}">' in main


def test_a_matching_etag_gets_not_modified(client: TestClient) -> None:
    first = client.get("/ladders/poke.csv")
    again = client.get("/ladders/poke.csv", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = client.get("/ladders/poke.csv?find=ada", headers={"If-None-Match": "nothing"})
    assert other.status_code == 200
    assert other.headers["etag"] != first.headers["etag"]


def test_every_response_has_security_headers(client: TestClient) -> None:
    for address in ("/", "/ladders/poke.json", "/nowhere", "/static/style.css", "/healthz"):
        headers = client.get(address).headers
        directives = headers["content-security-policy"].split("; ")
        policy = dict(directive.split(" ", 1) for directive in directives)
        assert re.fullmatch(r"'self'( 'sha256-[\w+/]{43}='){3}", policy.pop("script-src"))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'self'",
            "img-src": "'self' data:",
            "font-src": "'self'",
            "connect-src": "'self'",
            "form-action": "'self'",
            "base-uri": "'none'",
            "frame-src": "'self'",
            "frame-ancestors": "'none'",
        }
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["permissions-policy"] == "camera=(), geolocation=(), microphone=()"
        assert "set-cookie" not in headers


def test_the_server_is_ready_after_it_has_read_the_store(client: TestClient) -> None:
    assert client.get("/readyz").text == "ready\n"
    assert client.get("/healthz").text == "alive\n"


def test_a_closed_match_updates_the_ladder(tmp_path: Path) -> None:
    workspace = arena_in(tmp_path)
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as client:
        before = client.get("/ladders/poke.json").json()["standings"][0]["matches"]
        store_tournament(workspace, ["ada2", "bob2"], {}, boards=1)
        wait_until(lambda: len(client.get("/ladders/poke.json").json()["standings"]) == 5)
    assert before == 6

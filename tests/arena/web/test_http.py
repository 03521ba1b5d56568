"""HTTP: methods, entity tags, compression, and errors in the requested format."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.web import assets, routes
from arena.web.app import create
from arena.web.data.snapshot import ArenaSnapshot, SnapshotReader
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import Page, PageRequest, PageRoute
from arena.web.serving import responses
from tests.arena.cli.stored_tournament import store_tournament
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    store_tournament(workspace, ["ada", "bob", "cy"], {}, boards=1)
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        yield client


def test_head_is_the_response_without_its_body(client: TestClient) -> None:
    whole, head = client.get("/ladders/poke.csv"), client.head("/ladders/poke.csv")
    assert head.content == b""
    names = ("content-length", "content-type", "etag", "vary", "cache-control")
    assert [head.headers[name] for name in names] == [whole.headers[name] for name in names]


def test_options_lists_the_allowed_methods(client: TestClient) -> None:
    answer = client.options("/ladders/poke")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(client: TestClient, method: str) -> None:
    answer = client.request(method, "/ladders/poke.json")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    sentence = f"method {method} is not allowed; allowed: GET, HEAD, OPTIONS."
    assert answer.json() == {"error": sentence}


def test_compressed_and_plain_responses_have_equal_content(client: TestClient) -> None:
    def page_request(encoding: str) -> Any:
        return client.get("/ladders/poke", headers={"Accept-Encoding": encoding})

    plain, small = page_request("identity"), page_request("gzip")
    # The rating histories may be added in between.
    while plain.headers["etag"] != small.headers["etag"]:
        plain, small = page_request("identity"), page_request("gzip")
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert int(small.headers["content-length"]) < len(plain.content) / 2
    assert small.content == plain.content
    assert small.headers["etag"] == plain.headers["etag"]
    assert "Accept-Encoding" in plain.headers["vary"]


def test_an_unavailable_format_is_refused_with_the_available_ones(client: TestClient) -> None:
    answer = client.get("/", headers={"Accept": "text/csv"})
    assert answer.status_code == 406
    assert answer.text == "Not available as CSV. Available formats: HTML, JSON.\n"


def test_unknown_query_parameters_are_ignored(client: TestClient) -> None:
    plain = client.get("/ladders/poke?find=ada")
    more = client.get("/ladders/poke?utm=x&find=ada&sort_by=luck")
    assert more.text == plain.text


def test_responses_do_not_depend_on_the_host_header(client: TestClient) -> None:
    for address in ("/", "/ladders/poke", "/nowhere", "/ladders/whist.json"):
        plain = client.get(address)
        evil = client.get(address, headers={"Host": "evil.example", "X-Forwarded-Host": "evil"})
        assert evil.content == plain.content
        assert "evil" not in str(evil.headers)


def test_a_slow_first_read_of_the_store_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = threading.Event()
    look = SnapshotReader.read

    def slow(self: SnapshotReader) -> ArenaSnapshot | None:
        assert go.wait(30)
        return look(self)

    monkeypatch.setattr(SnapshotReader, "read", slow)
    monkeypatch.setattr("arena.web.app._FIRST_SECONDS", 0.1)
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob"], {}, boards=1)
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        answer = client.get("/ladders/poke.json")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.json()["error"].startswith("the server is starting")
        assert client.get("/readyz").status_code == 503
        go.set()
        wait_until(lambda: client.get("/readyz").status_code != 503)
        assert client.get("/ladders/poke.json").status_code == 200


def test_an_unexpected_error_hides_its_details(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(web: WebState, page_request: PageRequest) -> Page:
        raise RuntimeError("a secret at /home/me")

    monkeypatch.setattr(
        "arena.web.app.PAGES", (*routes.PAGES, PageRoute("/fails", fails, "Fails."))
    )
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob"], {}, boards=1)
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        for address in ("/fails", "/fails.json", f"{responses.LIVE}/fails"):
            answer = client.get(address)
            assert answer.status_code == 500
            assert "secret" not in answer.text
            assert "internal error" in answer.text
            assert "content-security-policy" in answer.headers
    assert "a secret at /home/me" in caplog.text


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"),
        ("text/plain", "text/plain"),
    ],
)
def test_errors_are_html_only_for_clients_that_name_html(
    client: TestClient, accept: str, media: str
) -> None:
    for address in ("/nowhere", "/bots/nobody", "/ladders/poke?sort=luck"):
        answer = client.get(address, headers={"Accept": accept})
        assert answer.status_code in (400, 404)
        assert answer.headers["content-type"].partition(";")[0] == media
    assert (
        client.get("/bots", headers={"Accept": "*/*"})
        .headers["content-type"]
        .startswith("text/html")
    )


@pytest.mark.parametrize("address", ["/", "/ladders/poke", "/static/style.css", "/nowhere"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_vary_names_every_header_once(client: TestClient, address: str, encoding: str) -> None:
    headers = client.get(address, headers={"Accept-Encoding": encoding}).headers
    names = [name.strip() for name in headers.get("vary", "").split(",")]
    assert len(names) == len(set(names))
    assert len(headers.get_list("vary")) <= 1


@pytest.mark.parametrize(("page", "file"), [("/bots", "style.css"), ("/", "live_tables.css")])
def test_static_files_with_their_version_are_kept(client: TestClient, page: str, file: str) -> None:
    (address,) = re.findall(rf'href="(/static/{file}\?v=\w+)"', client.get(page).text)
    assert "immutable" in client.get(address).headers["cache-control"]
    for other in (f"/static/{file}", f"/static/{file}?v=other"):
        assert client.get(other).headers["cache-control"] == "no-cache"


def test_a_bundle_contains_its_files(client: TestClient) -> None:
    for name, parts in assets.BUNDLES.items():
        answer = client.get(f"/static/{name}")
        expected = "text/css" if name.endswith(".css") else "text/javascript"
        assert answer.headers["content-type"].startswith(expected)
        assert answer.text == "".join(client.get(f"/static/{part}").text for part in parts)


def test_names_in_the_scripts_of_a_bundle_differ() -> None:
    # A second function with the same name would silently replace the first one.
    declaration = re.compile(r"^(?:async )?(?:function\*?|const|let) (\w+)", re.MULTILINE)
    names = declaration.findall(assets.text("replay_page.js"))
    assert {"toggleResults", "changeViewpoint"} < set(names)
    assert len(names) == len(set(names))


def test_pages_have_open_graph_data(client: TestClient) -> None:
    page = client.get("/ladders/poke").text
    properties = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', page))
    assert {"title", "type", "description", "site_name"} <= properties.keys()
    assert properties["title"].startswith("Poke")
    assert all(properties.values())

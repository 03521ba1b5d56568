"""Responses correspond to the OpenAPI document; odd requests never get a server error."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import Samples, plain, shortened
from arena.web.page import PageRequest, PageRoute, ServerLinks
from arena.web.routes import PAGES
from arena.web.serving import page_kinds
from arena.web.serving.page_kinds import KINDS
from arena.web.serving.responses import LIVE
from arena.web.serving.security import PRIVATE
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.closed_matches import play, table
from tests.arena.web.stored_submissions import add_submission
from tests.examples import examples
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> WebState:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    store_tournament(workspace, ["ada", "bob", "cy"], {}, boards=1)
    play(workspace, table("poke-2-must_beat=true"))
    add_submission(workspace)
    return WebState(workspace.store, ServerSettings(rate=0))


@pytest.fixture(scope="module")
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web)) as client:
        # The rating histories are computed in the background and are part of responses.
        wait_until(lambda: web.snapshot.charts)
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        yield client


@pytest.fixture(scope="module")
def description(client: TestClient) -> dict[str, Any]:
    answer = client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, Any] = answer.json()
    return document


def filled(path: str, operation: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the path of an operation with the examples of its parameters."""
    query = {}
    for each in operation["parameters"]:
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", each["example"])
        elif "example" in each:
            query[each["name"]] = each["example"]
    return path, query


def test_the_description_lists_every_page(description: dict[str, Any]) -> None:
    assert description["openapi"] == "3.1.0"
    pages = {
        path: methods
        for path, methods in description["paths"].items()
        if "get" in methods and not path.startswith(PRIVATE)
    }
    assert len(pages) == len(PAGES)
    assert "/ladders/{form}" in description["paths"]
    for path, methods in pages.items():
        names = {each["name"] for each in methods["get"]["parameters"] if each["in"] == "path"}
        assert path.count("{") == len(names)
        assert all(each["description"] for each in methods["get"]["parameters"]), path
        assert methods["get"]["summary"].endswith(".")
    identities = [
        operation["operationId"]
        for methods in description["paths"].values()
        for operation in methods.values()
    ]
    assert len(set(identities)) == len(identities)


def test_examples_of_the_description_are_real_responses(
    client: TestClient, description: dict[str, Any]
) -> None:
    tried = 0
    for path, methods in description["paths"].items():
        if "get" not in methods:
            continue
        content = methods["get"]["responses"]["200"]["content"].get(KINDS["json"], {})
        if "example" not in content:
            continue
        address, query = filled(path, methods["get"])
        answer = client.get(address, params=query, headers={"Accept": "application/json"})
        assert shortened(answer.json()) == content["example"], address
        tried += 1
    assert tried >= 2


@pytest.mark.parametrize("address", PAGES, ids=lambda address: address.path)
def test_every_page_offers_its_documented_formats(
    web: WebState, client: TestClient, address: PageRoute
) -> None:
    samples = Samples(web)
    values = samples.values(address)
    if values is None:
        pytest.fail(f"there is nothing in this arena to try {address.path} with")
    page = address.draw(web, PageRequest(values, samples.query(address), ServerLinks()))
    assert page_kinds.offered(page) == address.kinds


def test_the_api_page_lists_the_same_addresses(client: TestClient) -> None:
    page = client.get("/docs/api").text
    assert all(f"<code>{plain(address.path)}</code>" in page for address in PAGES)
    assert '<a href="/ladders/poke.csv">csv</a>' in page


WORDS = ("json", "..", ".", "%", "null", "-1", "0", "9" * 30, "é", "🂡", "<b>", "'", '"', ";", "\n")
ODD = st.one_of(st.sampled_from(WORDS).map(str.encode), st.binary(max_size=12))
QUERIES = sorted({name for address in PAGES for name, _ in address.query})
ACCEPTS = st.one_of(
    st.sampled_from(["application/json", "text/plain", "text/csv", "text/markdown", "*/*", "a/b"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
)


def check_answer(client: TestClient, path: str, query: str, accept: str) -> None:
    if path.startswith(f"{LIVE}/"):
        # A stream of updates does not end.
        return
    # An absolute URL: the client refuses a relative one that starts with two slashes.
    url = f"http://testserver{path}" + (f"?{query}" if query else "")
    answer = client.get(url, headers={"Accept": accept})
    assert answer.status_code in (200, 400, 404, 406, 414), (path, query, accept, answer.text)
    if answer.headers["content-type"] == "application/json":
        answer.json()


queries = st.lists(
    st.tuples(st.sampled_from(["page", "limit", *QUERIES, "x"]), ODD), max_size=3
).map(lambda pairs: "&".join(f"{name}={quote_from_bytes(value)}" for name, value in pairs))


@settings(max_examples=examples(150))
@given(st.lists(ODD, max_size=4), queries, ACCEPTS)
def test_odd_addresses_cause_no_server_error(
    client: TestClient, parts: list[bytes], query: str, accept: str
) -> None:
    check_answer(client, "/" + "/".join(map(quote_from_bytes, parts)), query, accept)


@pytest.mark.parametrize(
    "path",
    ["/docs/....//", "//evil.example/", "/\\evil.example/", "/docs/", "/ladders/", "/docs/..%2f/"],
)
def test_no_response_links_to_the_requested_host(client: TestClient, path: str) -> None:
    answer = client.get(
        f"http://testserver{path}", headers={"Host": "evil.example"}, follow_redirects=False
    )
    assert "evil.example" not in answer.headers.get("location", "")
    assert "//evil.example" not in answer.text

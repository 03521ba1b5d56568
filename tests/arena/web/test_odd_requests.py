"""Unusual addresses, queries and headers get an error message and never a server error."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import Samples, names, plain
from arena.web.routes import PAGES
from arena.web.serving.responses import LIVE
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.closed_matches import play, table
from tests.arena.web.stored_submissions import add_submission
from tests.examples import examples

WORDS = ("json", "..", ".", "%", "null", "-1", "0", "9" * 30, "é", "🂡", "<b>", "'", '"', ";", "\n")
ODD = st.one_of(st.sampled_from(WORDS).map(str.encode), st.binary(max_size=12))
QUERIES = sorted({name for address in PAGES for name, _ in address.query})
ACCEPTS = st.one_of(
    st.sampled_from(["application/json", "text/plain", "text/csv", "text/markdown", "*/*", "a/b"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
)


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
        yield client


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
endings = st.sampled_from(["", ".json", ".csv", ".md", ".txt", ".jsonl", "/", "."])


@settings(max_examples=examples(150))
@given(st.data())
def test_odd_parameter_values_cause_no_server_error(
    client: TestClient, web: WebState, data: st.DataObject
) -> None:
    address = data.draw(st.sampled_from(PAGES))
    known = Samples(web).values(address) or {}
    path = plain(address.path)
    for name in names(address.path):
        good = st.just(known[name].encode()) if name in known else ODD
        path = path.replace(f"{{{name}}}", quote_from_bytes(data.draw(st.one_of(good, ODD))))
    check_answer(client, path + data.draw(endings), data.draw(queries), data.draw(ACCEPTS))


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

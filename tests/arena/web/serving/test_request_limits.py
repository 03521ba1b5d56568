"""Limits of requests: time, size, rate and number of connections."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.system.token_buckets import Buckets
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving import request_limits
from arena.web.serving.live_updates import StreamClients
from arena.web.serving.request_limits import client_of
from tests.arena.cli.stored_tournament import store_tournament


def test_a_bucket_allows_its_burst_and_then_its_rate() -> None:
    buckets = Buckets(rate=0.5, burst=2)
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0, 0, 2]
    assert buckets.take("b", 0.0) == 0
    assert [buckets.take("a", 2.0), buckets.take("a", 2.0)] == [0, 2]
    assert [buckets.take("a", 1000.0) for _ in range(3)] == [0, 0, 2]


def test_without_a_rate_there_is_no_limit() -> None:
    assert {Buckets(rate=0, burst=1).take("a", 0.0) for _ in range(100)} == {0}


def test_unused_buckets_are_removed() -> None:
    buckets = Buckets(rate=0.001, burst=1, most=2)
    assert [buckets.take(who, 0.0) for who in ("a", "b", "a", "c", "a")] == [0, 0, 1000, 0, 1000]
    assert buckets.take("b", 0.0) == 0


def scope(client: str, *forwarded: str) -> dict[str, object]:
    headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
    return {"client": (client, 1), "headers": headers}


@pytest.mark.parametrize(
    ("scope_of_request", "proxied", "client"),
    [
        (scope("192.0.2.1"), False, "192.0.2.1"),
        (scope("192.0.2.1", "198.51.100.7"), False, "192.0.2.1"),
        (scope("192.0.2.1", "198.51.100.7"), True, "198.51.100.7"),
        (scope("192.0.2.1", "203.0.113.9, 198.51.100.7"), True, "198.51.100.7"),
        (scope("192.0.2.1", "203.0.113.9", "198.51.100.7"), True, "198.51.100.7"),
        (scope("192.0.2.1"), True, "192.0.2.1"),
        (scope("2001:db8:1:2:3:4:5:6"), False, "2001:db8:1:2::/64"),
        (scope("::ffff:192.0.2.1"), False, "192.0.2.1"),
        (scope("192.0.2.1", "nonsense"), True, "nonsense"),
    ],
)
def test_the_client_address_is_that_of_the_connection_or_a_trusted_proxy(
    scope_of_request: dict[str, object], proxied: bool, client: str
) -> None:
    assert client_of(scope_of_request, proxied) == client


def test_one_address_can_hold_a_quarter_of_the_streams() -> None:
    audience = StreamClients(8)
    with audience.seat("a"), audience.seat("a"):
        with pytest.raises(HTTPException) as refused, audience.seat("a"):
            pass
        assert refused.value.status_code == 503
        with audience.seat("b"), audience.seat("b"), audience.seat("c"):
            assert len(audience) == 5
    assert len(audience) == 0
    with audience.seat("a"):
        pass


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the limits, so that no request is allowed again on a busy machine."""
    monkeypatch.setattr(request_limits, "time", SimpleNamespace(monotonic=lambda: 1000.0))


def client_with(workspace: Workspace, settings: ServerSettings) -> TestClient:
    return TestClient(create(WebState(workspace.store, settings)))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    store_tournament(workspace, ["ada", "bob"], {}, boards=1)
    return workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    with client_with(workspace, ServerSettings(rate=0)) as client:
        yield client


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("/" + "x" * request_limits.PATH_LETTERS + ".json", 414, "the URL is too long."),
        ("/.json?find=" + "x" * request_limits.QUERY_LETTERS, 414, "the URL is too long."),
        ("/ladders/po%00ke.json", 400, "the URL contains a zero byte."),
        ("/ladders/poke.json?find=%00", 400, "the URL contains a zero byte."),
    ],
)
def test_the_length_of_an_address_is_limited(
    client: TestClient, address: str, status: int, sentence: str
) -> None:
    answer = client.get(address)
    if address.startswith("/.json"):
        assert (answer.status_code, sentence in answer.text) == (status, True)
    else:
        assert (answer.status_code, answer.json()) == (status, {"error": sentence})


def test_the_length_of_a_body_is_limited(client: TestClient) -> None:
    answer = client.post("/ladders/poke.txt", content=b"x" * (request_limits.BODY_BYTES + 1))
    assert (answer.status_code, answer.text) == (
        413,
        "the request body is larger than 16384 bytes.\n",
    )


@pytest.mark.usefixtures("stopped_clock")
def test_too_many_requests_get_retry_after(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "READ_BURST", 3)
    with client_with(workspace, ServerSettings(rate=0.1, proxied=True)) as client:
        mine, other = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
        for _ in range(3):
            assert client.get("/ladders/poke.json", headers=mine).status_code == 200
        refused = client.get("/ladders/poke.json", headers=mine)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert refused.json() == {"error": "too many requests; retry in 10 s."}
        assert "content-security-policy" in refused.headers
        assert client.get("/ladders/poke.json", headers=other).status_code == 200
        assert client.get("/static/style.css", headers=mine).status_code == 200
        assert client.get("/healthz", headers=mine).status_code == 200


@pytest.mark.usefixtures("stopped_clock")
def test_write_requests_have_a_lower_limit(workspace: Workspace) -> None:
    with client_with(workspace, ServerSettings()) as client:
        status_codes = [
            client.post("/ladders/poke").status_code for _ in range(request_limits.WRITE_BURST + 1)
        ]
        assert status_codes == [405] * request_limits.WRITE_BURST + [429]
        assert client.get("/ladders/poke").status_code == 200


@pytest.mark.usefixtures("stopped_clock")
@pytest.mark.parametrize(
    ("path", "burst", "wait"),
    [
        ("/sign-in", 10, 5),
        ("/bots/ada/retire", 10, 5),
        ("/organiser/owners", 30, 1),
        ("/account/retire", 30, 1),
        ("/play/tables/none", 30, 1),
        ("/submissions", 40, 1),
    ],
)
def test_each_kind_of_request_with_a_body_has_its_own_limit(
    workspace: Workspace, path: str, burst: int, wait: int
) -> None:
    with client_with(workspace, ServerSettings()) as client:
        answers = [client.post(path, content=b"") for _ in range(burst + 1)]
    assert 429 not in [answer.status_code for answer in answers[:-1]]
    assert (answers[-1].status_code, answers[-1].headers["retry-after"]) == (429, str(wait))


@pytest.mark.parametrize("path", ["/challenges", "/bots/ada/retire", "/submissions"])
def test_errors_of_posts_of_programs_are_json_for_any_accept_header(
    workspace: Workspace, path: str
) -> None:
    with client_with(workspace, ServerSettings()) as client:
        refused = client.post(path, headers={"Accept": "text/html"})
    assert refused.status_code == 401
    assert set(refused.json()) == {"error"}


def test_too_many_streams_are_refused(workspace: Workspace) -> None:
    with client_with(workspace, ServerSettings(watchers=0)) as client:
        refused = client.get("/live/ladders/poke")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
        assert "too many clients" in refused.text


def test_a_refusal_does_not_ask_a_person_with_a_session_to_sign_in(
    client: TestClient,
) -> None:
    address = "/" + "x" * request_limits.PATH_LETTERS
    for headers, asks in (({}, True), ({"Cookie": "pokearena=secret"}, False)):
        page = client.get(address, headers={"Accept": "text/html", **headers})
        assert page.status_code == 414
        assert ('href="/sign-in"' in page.text) == asks

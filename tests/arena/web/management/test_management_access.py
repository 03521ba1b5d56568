"""Access to the management of the arena: tokens, sessions, form tokens, roles and limits."""

import json
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store import database, schema
from arena.store.access import audit_log, organisers, sessions
from arena.store.bots import owners, versions
from arena.store.matches import listing
from arena.store.tournaments import tournaments
from arena.tournaments.tournament_request import TournamentFileError, read_request
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.management.action import Action
from arena.web.management.actions import ACTIONS
from arena.web.management.pages import PAGES
from arena.web.serving import request_limits
from arena.web.serving.request_limits import MANAGEMENT_BURST
from tests.arena.cli.stored_tournament import store_tournament
from tests.examples import quick_cases


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> WebState:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    store_tournament(workspace, ["ada", "bob", "cy"], {})
    return WebState(workspace.store, ServerSettings(rate=0, proxied=True))


@pytest.fixture(scope="module")
def app(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web), follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(app: TestClient) -> TestClient:
    app.cookies.clear()
    app.headers["Accept"] = "text/html"
    return app


@pytest.fixture(scope="module")
def token(web: WebState) -> str:
    return organisers.add_organiser(web.engine, "grace")


def sign_in(client: TestClient, token: str) -> str:
    """Sign in and return the form token of the session."""
    answer = client.post("/sign-in", data={"token": token})
    assert answer.status_code == 303
    return form_token(client, answer.headers["location"])


def form_token(client: TestClient, page: str = "/organiser") -> str:
    hidden = re.search(r'name="form_token" value="(\w+)"', client.get(page).text)
    assert hidden is not None
    return hidden.group(1)


BY_ROLE = sorted(ACTIONS, key=lambda action: action.role, reverse=True)
"""All actions; those of owners first."""
SETTINGS = {"game": "poke", "bots": "ada\nbob@1\ncy", "name": "Friday", "paused": "on"}


def test_the_session_cookie_is_hidden_from_scripts_and_other_sites(
    client: TestClient, token: str
) -> None:
    for scheme, name in (("http", "pokearena"), ("https", "__Host-pokearena")):
        headers = {"X-Forwarded-Proto": scheme}
        answer = client.post("/sign-in", data={"token": token}, headers=headers)
        cookie = SimpleCookie(answer.headers["set-cookie"])[name]
        assert cookie["httponly"]
        assert cookie["samesite"] == "strict"
        assert cookie["path"] == "/"
        assert bool(cookie["secure"]) == (scheme == "https")
        assert token not in answer.headers["set-cookie"]
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_the_overview_lists_actions_without_sign_ins(client: TestClient, token: str) -> None:
    client.post("/sign-in", data={"token": token})
    client.post("/sign-in", data={"token": token})
    overview, without, every = (
        {entry["action"] for entry in client.get(path).json()["audit"]}
        for path in (
            "/organiser.json",
            "/organiser/audit.json?sign_ins=hide",
            "/organiser/audit.json",
        )
    )
    assert overview == without
    assert every - without == {"session.sign-in"}


def test_signing_in_replaces_the_session_id_of_the_browser(client: TestClient, token: str) -> None:
    client.cookies.set("pokearena", "chosen-by-somebody-else")
    answer = client.post("/sign-in", data={"token": token})
    first = SimpleCookie(answer.headers["set-cookie"])["pokearena"].value
    assert first != "chosen-by-somebody-else"
    client.cookies.clear()
    client.cookies.set("pokearena", first)
    client.post("/sign-in", data={"token": token})
    client.cookies.clear()
    client.cookies.set("pokearena", first)
    assert client.get("/organiser").headers["location"] == "/sign-in"


def test_a_session_ends_after_twelve_hours(client: TestClient, token: str, web: WebState) -> None:
    answer = client.post("/sign-in", data={"token": token})
    assert SimpleCookie(answer.headers["set-cookie"])["pokearena"]["max-age"] == "43200"
    table = schema.sessions
    with database.writing(web.engine) as connection:
        lifetimes = connection.execute(select(table.c.expires - table.c.created)).scalars()
        assert all(lifetime == pytest.approx(43_200, abs=1) for lifetime in lifetimes)
    assert client.get("/organiser").status_code == 200
    with database.writing(web.engine) as connection:
        connection.execute(update(table).values(expires=table.c.expires - 43_200))
    assert client.get("/organiser").headers["location"] == "/sign-in"


def test_a_person_has_at_most_ten_sessions(web: WebState) -> None:
    token = organisers.add_organiser(web.engine, "barbara")
    opened = [sessions.sign_in(web.engine, token) for _ in range(11)]
    secrets = [each[0] for each in opened if each is not None]
    known = [sessions.find_session(web.engine, secret) is not None for secret in secrets]
    assert known == [False] + [True] * 10


def test_only_a_trusted_proxy_decides_the_scheme_of_the_cookie(web: WebState, token: str) -> None:
    direct = WebState(web.engine, ServerSettings(rate=0, proxied=False))
    with TestClient(create(direct), follow_redirects=False) as client:
        headers = {"X-Forwarded-Proto": "https"}
        answer = client.post("/sign-in", data={"token": token}, headers=headers)
    assert list(SimpleCookie(answer.headers["set-cookie"])) == ["pokearena"]


def test_a_form_needs_the_token_of_its_session(client: TestClient, token: str) -> None:
    sent = sign_in(client, token)
    refused = client.post("/organiser/owners", data={"name": "eve"})
    assert refused.status_code == 403
    client.cookies.clear()
    sign_in(client, token)
    refused = client.post("/organiser/owners", data={"name": "eve", "form_token": sent})
    assert refused.status_code == 403
    mine = form_token(client)
    refused = client.post(
        "/organiser/owners",
        data={"name": "eve", "form_token": mine},
        headers={"Sec-Fetch-Site": "cross-site"},
    )
    assert refused.status_code == 403
    accepted = client.post("/organiser/owners", data={"name": "eve", "form_token": mine})
    assert accepted.status_code == 200


def test_a_revoked_or_renewed_token_ends_its_sessions(client: TestClient, web: WebState) -> None:
    token = organisers.add_organiser(web.engine, "linus")
    sign_in(client, token)
    renewed = organisers.renew(web.engine, "linus")
    assert client.get("/organiser").status_code == 303
    sign_in(client, renewed)
    organisers.revoke(web.engine, "linus")
    assert client.get("/organiser").status_code == 303
    bearer = {"Authorization": f"Bearer {renewed}", "Accept": "application/json"}
    assert client.get("/organiser", headers=bearer).status_code == 401
    assert client.post("/sign-in", data={"token": renewed}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}, {"Origin": "null"}],
)
def test_another_site_cannot_sign_a_browser_in(
    client: TestClient, token: str, headers: dict[str, str]
) -> None:
    answer = client.post("/sign-in", data={"token": token}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    own = {"Origin": "http://testserver"}
    assert client.post("/sign-in", data={"token": token}, headers=own).status_code == 303


def test_signing_out_ends_the_session(client: TestClient, token: str) -> None:
    sent = sign_in(client, token)
    cookie = client.cookies["pokearena"]
    client.post("/sign-out", data={"form_token": sent})
    client.cookies.clear()
    client.cookies.set("pokearena", cookie)
    assert client.get("/organiser").headers["location"] == "/sign-in"


def test_pages_of_organisers_need_their_token(client: TestClient) -> None:
    for each in PAGES:
        path = each.path.replace("{id}", "t-000000")
        statuses = [
            client.get(path, headers={"Accept": accepted}).status_code
            for accepted in ("application/json", "text/html")
        ]
        assert statuses == [401, 303], path


def test_other_sites_cannot_read_private_pages_and_results_of_actions(client: TestClient) -> None:
    for page in ("/sign-in", "/sign-out", *(each.path for each in PAGES)):
        answer = client.get(page.replace("{id}", "t-000000"))
        assert "access-control-allow-origin" not in answer.headers, page
    for action in ACTIONS:
        answer = client.post(action.path.replace("{id}", "t-000000"), json={})
        assert "access-control-allow-origin" not in answer.headers, action.path


def test_actions_refuse_strangers_and_the_other_role(
    client: TestClient, web: WebState, token: str
) -> None:
    others = {"owner": token, "organiser": owners.add_owner(web.engine, "mallory")}
    for action in ACTIONS:
        path = action.path.replace("{id}", "t-000000")
        for other, status in (("x", 401), (others[action.role], 403)):
            answer = client.post(path, json={}, headers={"Authorization": f"Bearer {other}"})
            assert answer.status_code == status, action.name


@pytest.mark.parametrize("action", quick_cases(BY_ROLE, 6), ids=lambda action: action.name)
def test_every_form_of_another_site_is_refused(
    client: TestClient, web: WebState, action: Action, token: str
) -> None:
    if action.role == "owner":
        known = {each.name for each in owners.list_owners(web.engine)}
        token = (owners.renew if "trent" in known else owners.add_owner)(web.engine, "trent")
    answer = client.post("/sign-in", data={"token": token})
    sent = {"form_token": form_token(client, answer.headers["location"])}
    path = action.path.replace("{id}", "t-000000")
    entries = audit_log.count(web.engine)
    for values, headers in (
        ({}, {}),
        ({"form_token": "0" * 64}, {}),
        (sent, {"Sec-Fetch-Site": "cross-site"}),
        (sent, {"Sec-Fetch-Site": "same-site"}),
        (sent, {"Origin": "http://evil.example"}),
        (sent, {"Origin": "null"}),
    ):
        assert client.post(path, data=values, headers=headers).status_code == 403
    # A page of another site can send JSON as text, but cannot set this header.
    assert client.post(path, content="{}").status_code == 403
    assert audit_log.count(web.engine) == entries
    assert client.post(path, data=sent).status_code != 403


def test_a_revoked_token_of_an_owner_writes_nothing(client: TestClient, web: WebState) -> None:
    token = owners.add_owner(web.engine, "walter")
    versions.set_owner(web.engine, versions.find_version(web.engine, "ada@1"), "walter")
    headers = {"Authorization": f"Bearer {token}"}
    foreign = "/bots/bob/retire?version=1"
    assert client.post(foreign, headers=headers).status_code == 403
    owners.revoke(web.engine, "walter")
    for path in (
        "/bots/ada/retire?version=1",
        "/challenges?opponent=bob",
        f"/submissions?name=ada&content={'0' * 64}",
        "/account/retire",
        "/account/challenges",
    ):
        body = {"version": "ada@1", "opponent": "bob"}
        answer = client.post(path, json=body, headers=headers)
        assert answer.status_code in (401, 403), path
    assert versions.find_version(web.engine, "ada@1").retired is None


def test_changes_are_limited_per_client(
    web: WebState, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "MANAGEMENT_RATE", 0.001)
    with TestClient(create(WebState(web.engine, ServerSettings()))) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        statuses = [
            client.post("/organiser/tournaments/t-000000/pause", json={}).status_code
            for _ in range(MANAGEMENT_BURST + 2)
        ]
        refused = client.post("/organiser/tournaments/t-000000/pause", json={})
    assert set(statuses[:MANAGEMENT_BURST]) == {404}
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1


def test_sign_in_attempts_are_limited(web: WebState, tmp_path: Path) -> None:
    limited = WebState(web.engine, ServerSettings())
    with TestClient(create(limited)) as client:
        statuses = [
            client.post("/sign-in", data={"token": f"guess-{number}"}).status_code
            for number in range(12)
        ]
    assert set(statuses[:10]) == {401}
    assert statuses[-1] == 429


def test_a_tournament_is_previewed_created_and_managed_with_forms(
    client: TestClient, web: WebState, token: str
) -> None:
    sent = {"form_token": sign_in(client, token)}
    before = len(tournaments.list_tournaments(web.engine))
    form = client.get("/organiser/tournaments/new")
    assert form.status_code == 200
    preview = client.post("/organiser/tournaments/preview", data={**SETTINGS, **sent})
    assert preview.status_code == 200
    assert len(tournaments.list_tournaments(web.engine)) == before
    made = client.post("/organiser/tournaments", data={**SETTINGS, **sent})
    assert made.status_code == 303
    page = made.headers["location"]
    name = page.rpartition("/")[2]
    stored = tournaments.find_tournament(web.engine, name)
    assert (stored.state, stored.plan.name) == ("paused", "Friday")
    assert stored.entrants == ("ada@1", "bob@1", "cy@1")
    assert client.get(page).status_code == 200
    for action, values, state in (
        ("start", {}, "running"),
        ("withdraw", {"version": "cy@1", "reason": "it is slow"}, "running"),
        ("pause", {}, "paused"),
        ("cancel", {"reason": "rain"}, "cancelled"),
    ):
        answer = client.post(f"{page}/{action}", data={**values, **sent})
        assert answer.status_code == 303, answer.text
        assert tournaments.find_tournament(web.engine, name).state == state
    assert client.post(f"{page}/start", data=sent).status_code == 409
    (cancelled, *_) = listing.matches(web.engine, tournament=name)
    assert "pokearena verify" not in client.get(f"/matches/{cancelled.id}").text
    entries = audit_log.list_entries(web.engine, subject=name)
    assert [(entry.action, entry.reason, entry.actor, entry.origin) for entry in entries] == [
        ("tournament.cancel", "rain", "grace", "pages"),
        ("tournament.pause", "", "grace", "pages"),
        ("tournament.withdraw", "it is slow", "grace", "pages"),
        ("tournament.start", "", "grace", "pages"),
    ]
    assert client.get("/organiser/audit").status_code == 200


def test_the_form_of_a_refused_tournament_keeps_the_sent_values(
    client: TestClient, web: WebState, token: str
) -> None:
    sent = {**SETTINGS, "form_token": sign_in(client, token)}
    before = len(tournaments.list_tournaments(web.engine))
    for path in ("/organiser/tournaments/preview", "/organiser/tournaments"):
        for values, status, reason in (
            ({"boards": "0"}, 422, "&#34;boards&#34; must be a whole number"),
            ({"bots": "ada\nnobody"}, 404, "unknown bot nobody; /bots lists all."),
        ):
            answer = client.post(path, data={**sent, **values})
            assert answer.status_code == status
            assert reason in answer.text
            assert 'value="Friday"' in answer.text
            assert "</textarea>" in answer.text
    assert len(tournaments.list_tournaments(web.engine)) == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("boards", 0),
        ("seats", 7),
        ("faults", "strict"),
        ("name", "-x"),
        ("options", {"must_beet": True}),
        ("options", {"must_beat": 3}),
        ("settings", {"round": 2}),
        ("settings", {"rounds": 2.5}),
        ("settings", {"rounds": -1}),
        ("start_ms", 0),
        ("bank_ms", 3_600_001),
    ],
)
def test_a_file_and_the_api_refuse_a_value_with_the_same_sentence(
    client: TestClient, token: str, tmp_path: Path, key: str, value: object
) -> None:
    settings = {"game": "poke", "format": "swiss", "bots": ["ada", "bob"], key: value}
    client.headers["Authorization"] = f"Bearer {token}"
    try:
        answer = client.post("/organiser/tournaments/preview", json=settings)
    finally:
        del client.headers["Authorization"]
    assert answer.status_code == 422
    table = {"start_ms": "clock.start_ms", "bank_ms": "clock.bank_ms"}.get(key, key)
    inner = value if isinstance(value, dict) else {"": value}
    line = "".join(
        f"{table}{'.' * bool(name)}{name} = {json.dumps(each)}\n" for name, each in inner.items()
    )
    file = tmp_path / "cup.toml"
    file.write_text(f'game = "poke"\nformat = "swiss"\nbots = ["ada", "bob"]\n{line}')
    with pytest.raises(TournamentFileError) as refused:
        read_request(file)
    assert refused.value.line == 4
    if key != "faults":  # The form lists its choices.
        assert answer.json()["error"] == refused.value.sentence


def test_programs_use_the_same_actions_with_json(
    client: TestClient, web: WebState, token: str
) -> None:
    client.headers["Authorization"] = f"Bearer {token}"
    try:
        settings = {"game": "poke", "bots": ["ada", "bob"], "settings": {"cycles": 2}}
        preview = client.post("/organiser/tournaments/preview", json=settings)
        assert preview.json()["matches"] == 2
        made = client.post("/organiser/tournaments", json=settings)
        assert made.status_code == 201
        name = made.json()["tournament"]
        assert made.headers["location"] == f"/organiser/tournaments/{name}"
        assert client.get(made.headers["location"] + ".json").json()["audit"] == []
        for body, status in (
            ({**settings, "bots": ["ada"]}, 422),
            ({**settings, "bots": ["nobody", "ada"]}, 404),
            ({**settings, "boards": 10**8}, 422),
            ({**settings, "format": "lottery"}, 422),
            ({**settings, "settings": {"cycle": 2}}, 422),
            ({**settings, "name": "\ud800"}, 422),
            ({**settings, "board": 2}, 422),
            ([], 422),
        ):
            answer = client.post("/organiser/tournaments", content=json.dumps(body))
            assert answer.status_code == status, body
        assert client.post(f"/organiser/tournaments/{name}/cancel", json={}).status_code == 422
    finally:
        del client.headers["Authorization"]


def test_owners_tokens_are_issued_renewed_and_revoked(
    client: TestClient, web: WebState, token: str
) -> None:
    sent = {"form_token": sign_in(client, token)}
    shown = client.post("/organiser/owners", data={"name": "owen", **sent})
    assert shown.headers["cache-control"] == "no-store"
    (issued,) = re.findall(r"<code>([\w-]{43})</code>", shown.text)
    assert owners.known_by(web.engine, issued) == "owen"
    values = {"name": "owen", "reason": "it leaked", **sent}
    shown = client.post("/organiser/owners/renew", data=values)
    (renewed,) = re.findall(r"<code>([\w-]{43})</code>", shown.text)
    assert owners.known_by(web.engine, issued) is None
    client.post("/organiser/owners/revoke", data=values)
    assert owners.known_by(web.engine, renewed) is None
    texts = [repr(entry) for entry in audit_log.list_entries(web.engine)]
    assert not any(secret in text for text in texts for secret in (token, issued, renewed))

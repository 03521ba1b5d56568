"""A person plays against bots with the forms of the pages."""

import re
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.config import Folder
from arena.errors import InfrastructureError
from arena.matches import local_match, local_records
from arena.matches.hints import Hint
from arena.matches.play_table import PlayTable, question_id
from arena.services import web_process
from arena.store.bots import versions
from arena.web.app import create
from arena.web.data.play_tables import IDLE_SECONDS
from arena.web.data.web_state import ServerSettings, WebState
from referee.presentation.selection import Pick
from referee.record import MatchRecord, read
from referee.replay import steps, verify
from tests.arena.view_texts import texts_in

SITE = "http://testserver"
LOCAL = ServerSettings(rate=0, loopback=True)
POKE = {"bot0": "sample:meek"}
CARD = re.compile(r'<b class="card ([SHDC])[^>]*><span>(10|[2-9JQKA])')


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> WebState:
    workspace = Workspace(tmp_path_factory.mktemp("play") / "data")
    settings = ServerSettings(rate=0, data=workspace.folder.root, play=True, play_tables=4)
    return WebState(workspace.store, settings)


@pytest.fixture(scope="module")
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web), base_url=SITE, follow_redirects=False) as client:
        client.headers["Origin"] = SITE
        yield client


@pytest.fixture(scope="module")
def table(web: WebState, client: TestClient) -> Iterator[PlayTable]:
    """Open a table of Poke and wait until it is the person's turn."""
    seated = begin(web, client, "poke", POKE)
    seated.await_turn(30)
    yield seated
    seated.leave()
    seated.join(30)


def begin(web: WebState, client: TestClient, game: str, form: dict[str, str]) -> PlayTable:
    answer = client.post(f"/play/{game}", data=form)
    assert answer.status_code == 303, answer.text
    seated = web.play_tables.find(answer.headers["location"].rpartition("/")[2])
    assert seated is not None
    return seated


def choose(client: TestClient, table: PlayTable, **fields: str) -> Response:
    question = table.state.question
    named = {"question": question_id(question)} if question is not None else {}
    return client.post(f"/play/tables/{table.id}", data={**named, **fields})


def kept(web: WebState, match: str) -> MatchRecord:
    assert web.settings.data is not None
    path = local_records.path_of(Folder(web.settings.data), match)
    return read(path.read_text(encoding="utf-8"))


@pytest.mark.long
def test_a_named_person_gets_hints_and_the_next_game_and_deletes_the_record(
    web: WebState, client: TestClient
) -> None:
    seated = begin(web, client, "poke", {**POKE, "name": "ada"})
    seated.await_turn(30)
    question = seated.state.question
    assert question is not None
    assert choose(client, seated, hint="1").status_code == 303
    hint = seated.state.hint
    assert hint is not None
    assert hint.worth is not None
    assert hint.words in question.choices()
    assert 0 <= hint.worth.mean <= 1
    # A hint that the question does not list can be chosen too.
    seated.show_hint(Hint(question_id(question), "unlisted", (Pick("QC"),), None))
    page = client.get(f"/play/tables/{seated.id}").text
    assert 'data-picks="QC"' in page
    assert 'name="action" value="unlisted"' in page
    assert choose(client, seated, delete="1").status_code == 409
    choose(client, seated, leave="1")
    seated.join(30)
    record = kept(web, seated.match.spec.id)
    assert record.match["entrants"][0][0] == "person:ada"
    assert verify(record) == []
    again = begin(web, client, "poke", dict(seated.form))
    assert again.match.spec.versions == seated.match.spec.versions
    again.leave()
    again.join(30)
    assert choose(client, seated, delete="1").status_code == 303
    assert web.settings.data is not None
    assert not local_records.path_of(Folder(web.settings.data), seated.match.spec.id).exists()
    assert client.get(f"/play/tables/{seated.id}").status_code == 404


@pytest.mark.long
def test_a_whole_game_is_played_by_forms_and_shows_only_what_the_seat_may_see(
    web: WebState, client: TestClient
) -> None:
    seated = begin(web, client, "poke", {**POKE, "place": "1"})
    pages: list[tuple[int, str]] = []
    while not seated.is_over:
        seated.await_turn(30)
        question = seated.state.question
        if question is not None:
            page = client.get(f"/play/tables/{seated.id}")
            pages.append((question.decision, page.text))
            assert choose(client, seated, action="1").status_code == 303
    assert len(pages) > 10
    record = kept(web, seated.match.spec.id)
    assert verify(record) == []
    (game,) = record.games
    assert (game.faults, game.game["seating"]) == ((), ["meek", "human"])
    positions = {
        line["decision"]: step.state
        for step in steps(record.match, game, record.seed or b"")
        for line in step.lines
    }
    for decision, text in pages:
        view = positions[decision].view(1)
        shown = CARD.findall(text)
        cards = {("T" if rank == "10" else rank) + suit for suit, rank in shown}
        assert cards <= set(texts_in(asdict(view)))
        assert set(view.hand) <= cards
    end = client.get(f"/play/tables/{seated.id}")
    assert f"/play/tables/{seated.id}/replay" in end.text
    assert client.get(f"/play/tables/{seated.id}/replay?step=3&eyes=1").status_code == 200
    assert client.get(f"/play/tables/{seated.id}/record.jsonl").text == seated.match.record
    assert [version.name for version in versions.list_versions(web.engine)] == []


def test_a_choice_that_cannot_be_played_is_explained_and_the_question_stays(
    client: TestClient, table: PlayTable
) -> None:
    question = table.state.question
    assert question is not None
    wrong = {
        "not-legal": {"text": "fly"},
        "number": {"action": "9999"},
        "empty": {"text": " "},
        "stale": {"question": "0.999", "action": "1"},
    }
    for code, fields in wrong.items():
        answer = choose(client, table, **fields)
        assert answer.status_code == 303
        refused = table.state.refused
        assert refused is not None
        assert refused.code == code
        assert refused.sentence in client.get(answer.headers["location"]).text.replace("&#34;", '"')
    assert table.state.question is question


def test_only_pages_of_the_server_can_begin_and_choose(
    client: TestClient, table: PlayTable
) -> None:
    question = table.state.question
    before = client.headers.pop("Origin")
    try:
        for origin in ("null", "http://evil.example", "http://testserver.evil.example"):
            headers = {"Origin": origin}
            for path in ("/play/poke", f"/play/tables/{table.id}"):
                fields = {"question": "0.0", "action": "1", "leave": "1"}
                answer = client.post(path, data=fields, headers=headers)
                assert answer.status_code == 403, (origin, path)
    finally:
        client.headers["Origin"] = before
    assert table.state.question is question
    assert not table.state.has_left


def test_a_table_is_private(client: TestClient, table: PlayTable) -> None:
    answer = client.get(f"/play/tables/{table.id}")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert len(table.id) == 32
    for path in ("/games", "/games/poke", "/live.json", "/"):
        assert table.id not in client.get(path).text
    for path in ("", "/replay", "/record.jsonl"):
        assert client.get(f"/play/tables/{'0' * 32}{path}").status_code == 404
    assert client.get(f"/play/tables/{table.id}/replay").status_code == 404
    assert client.get(f"/play/tables/{table.id}/record.jsonl").status_code == 409


def test_tables_are_limited_and_a_table_that_is_left_makes_room(
    web: WebState, client: TestClient, table: PlayTable
) -> None:
    # A client may have two of the four tables.
    left = begin(web, client, "poke", POKE)
    left.await_turn(30)
    refused = client.post("/play/poke", data=POKE)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    for link in ("/play/poke", "/play/pokex"):
        page = client.post(link, data=POKE, headers={"Accept": "text/html,*/*;q=0.8"})
        assert page.headers["Content-Type"].startswith("text/html")
        assert page.status_code == 429
        assert "Leave the table" in page.text
    assert choose(client, left, action="1").status_code == 303
    left.await_turn(30)
    assert choose(client, left, leave="1").status_code == 303
    left.join(30)
    (game,) = kept(web, left.match.spec.id).games
    assert [(fault["seat"], fault["verdict"]) for fault in game.faults] == [(0, "crash")]
    assert verify(kept(web, left.match.spec.id)) == []
    web.play_tables.check_room(table.client)


def test_the_reason_of_a_failed_match_has_no_local_path(
    web: WebState, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise InfrastructureError("the level cannot be read from /home/ann/data/sandbox.json.")

    monkeypatch.setattr(local_match, "play", fail)
    failed = begin(web, client, "poke", POKE)
    failed.join(30)
    page = client.get(f"/play/tables/{failed.id}").text
    assert "The level cannot be read from" in page
    assert "/home" not in page


@pytest.mark.long
def test_an_abandoned_table_ends(web: WebState, tmp_path: Path) -> None:
    # Not the table of the other tests, which may run later: all tables of a server end.
    alone = WebState(web.engine, replace(web.settings, data=tmp_path))
    with TestClient(create(alone), base_url=SITE, follow_redirects=False) as client:
        client.headers["Origin"] = SITE
        table = begin(alone, client, "poke", POKE)
        table.await_turn(30)
        alone.play_tables.end_abandoned(time.monotonic())
        assert not table.state.has_left
        alone.play_tables.end_abandoned(time.monotonic() + IDLE_SECONDS + 1)
        table.join(30)
        assert table.is_over
        assert table.state.has_left


@pytest.mark.parametrize(
    ("game", "form"),
    [
        ("poke", {"bot0": "/etc"}),
        ("poke", {"bot0": "unix:/tmp/x.sock"}),
        ("poke", {"bot0": "grpc://127.0.0.1:1"}),
        ("poke", {"bot0": "sample:../house/greedy"}),
        ("poke", {"bot0": "human"}),
        ("poke", {"bot0": "nobody@1"}),
        ("poke", {"place": "2"}),
        ("poke", {"think": "1"}),
        ("poke", {"seats": "9"}),
        ("poke", {"must_beat": "perhaps"}),
        ("poke", {"name": "Ada Smith"}),
        ("poke", {"name": "greedy"}),
    ],
)
def test_a_form_names_only_what_the_page_offers(
    client: TestClient, game: str, form: dict[str, str]
) -> None:
    assert client.post(f"/play/{game}", data=form).status_code == 400
    assert client.post("/play/whist", data=form).status_code == 404


@pytest.mark.parametrize(
    ("settings", "headers", "status"),
    [
        (LOCAL, {"Host": "127.0.0.1:8000"}, 400),
        (LOCAL, {"Host": "localhost"}, 400),
        (LOCAL, {"Host": "[::1]:8000"}, 400),
        (LOCAL, {"Host": "evil.example"}, 403),
        (LOCAL, {"Host": "127.0.0.1", "X-Forwarded-For": "192.0.2.1"}, 403),
        (replace(LOCAL, proxied=True), {"Host": "127.0.0.1"}, 403),
        (replace(LOCAL, play=False), {"Host": "127.0.0.1"}, 403),
        (replace(LOCAL, loopback=False), {"Host": "127.0.0.1"}, 403),
        (replace(LOCAL, loopback=False, play=True), {"Host": "arena.example"}, 400),
    ],
)
def test_strangers_can_play_only_if_the_organiser_allows_it(
    web: WebState, settings: ServerSettings, headers: dict[str, str], status: int, tmp_path: Path
) -> None:
    state = WebState(web.engine, replace(settings, data=tmp_path))
    client = TestClient(create(state))
    sent = {**headers, "Origin": f"http://{headers['Host']}"}
    # The form is checked after everything else.
    assert client.post("/play/poke", data={"place": "9"}, headers=sent).status_code == status


@pytest.mark.parametrize("play", [True, False])
def test_the_navigation_has_play_only_where_people_can_play(
    web: WebState, tmp_path: Path, play: bool
) -> None:
    state = WebState(web.engine, replace(LOCAL, play=play, data=tmp_path))
    with TestClient(create(state)) as client:
        page = client.get("/games").text
    assert ('aria-current="page">Play</a>' in page) is play


def test_a_loopback_address_is_recognised() -> None:
    for host, expected in (("127.0.0.1", True), ("0.0.0.0", False)):
        with web_process.listen(host, 0) as listening:
            assert web_process.is_loopback(listening) is expected

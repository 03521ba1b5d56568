"""The forms of organisers: choices, errors beside their fields, and pages of confirmation."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.access import organisers
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.management.test_management_access import sign_in

FORM = "/organiser/tournaments"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebState]:
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {})
    yield WebState(workspace.store, ServerSettings(rate=0))
    workspace.store.dispose()


@pytest.fixture(scope="module")
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web), follow_redirects=False) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        client.headers["Accept"] = "text/html"
        yield client


@pytest.fixture(scope="module")
def sent(client: TestClient, web: WebState) -> dict[str, object]:
    """Sign in, and return a valid form."""
    token = sign_in(client, organisers.add_organiser(web.engine, "grace"))
    named = {"form_token": token, "game": "poke", "format": "round-robin", "paused": "on"}
    return {**named, "bots": ["ada@1", "bob@1", "cy"]}


@pytest.fixture(scope="module")
def paused(client: TestClient, sent: dict[str, object]) -> str:
    """Return the path of the controls of a paused tournament."""
    return client.post(FORM, data=sent).headers["location"]


def names(html: str) -> set[str]:
    return set(re.findall(r' name="([\w.]+)"', html))


def test_the_form_has_the_fields_of_the_chosen_game_and_format_only(
    client: TestClient, sent: dict[str, object]
) -> None:
    poke = names(client.get(f"{FORM}/new?game=poke&format=swiss").text)
    assert {"options.must_beat", "settings.rounds", "start_seconds", "bots"} <= poke
    pouku = names(client.get(f"{FORM}/new?game=pouku&format=knockout").text)
    assert {"options.reference", "settings.best_of"} <= pouku
    assert not {"options.must_beat", "settings.rounds"} & pouku


def test_a_form_is_read_like_a_tournament_file(
    client: TestClient, web: WebState, sent: dict[str, object]
) -> None:
    chosen = {
        "start_seconds": "2.5",
        "options.must_beat": "false",
        "settings.cycles": "2",
        "corrections": "3",
    }
    made = client.post(FORM, data={**sent, **chosen, "seats": "", "bank_seconds": ""})
    stored = tournaments.find_tournament(web.engine, made.headers["location"].rpartition("/")[2])
    assert stored.entrants == ("ada@1", "bob@1", "cy@1")
    assert stored.plan.options["must_beat"] is False
    assert stored.plan.settings == {"cycles": 2}
    assert stored.plan.corrections == 3
    assert (stored.plan.clock.start_ms, stored.plan.clock.bank_ms) == (2500, 10_000)


@pytest.mark.parametrize(
    ("values", "place", "words"),
    [
        ({"boards": "0"}, "new-boards", "boards"),
        ({"corrections": "11"}, "new-corrections", "corrections"),
        ({"start_seconds": "soon"}, "new-start_seconds", "seconds"),
        ({"settings.cycles": "0"}, "new-settings-cycles", "cycles"),
        ({"options.must_beat": "x"}, "new-options-must_beat", "must_beat"),
        ({"bots": ["ada@1", "bobb"]}, "bots", "&#34;bob&#34;"),
        ({"bots": ["ada@1", "bob@7"]}, "bots", "&#34;bob@1&#34;"),
        ({"bots": []}, "bots", "bots"),
    ],
)
def test_an_error_is_beside_its_field(
    client: TestClient, sent: dict[str, object], values: dict[str, object], place: str, words: str
) -> None:
    answer = client.post(FORM, data={**sent, **values})
    assert answer.status_code in (404, 422)
    shown = re.search(rf'class="wrong" id="{re.escape(place)}-wrong">([^<]*)<', answer.text)
    assert shown is not None
    assert words in shown.group(1)
    assert 'aria-invalid="true"' in answer.text
    assert re.search(r'value="ada@1" checked', answer.text) or not values.get("bots", True)


@pytest.mark.parametrize(
    ("path", "ended"),
    [
        ("/withdraw?version=cy@1", 2),
        ("/disqualify?version=cy@1", 2),
        ("/cancel", 3),
    ],
)
def test_a_page_of_confirmation_shows_the_matches_and_changes_nothing(
    client: TestClient, web: WebState, paused: str, path: str, ended: int
) -> None:
    answer = client.get(paused + path)
    assert answer.status_code == 200
    listed = re.findall(r'<li><a href="/matches/', answer.text.partition("Matches that end")[2])
    assert len(listed) == ended
    matches = listing.matches(web.engine, tournament=paused.rpartition("/")[2])
    assert {match.state for match in matches} == {MatchState.PENDING}


def test_a_refused_confirmation_is_shown_again_with_the_reason(
    client: TestClient, sent: dict[str, object], paused: str
) -> None:
    values = {"form_token": sent["form_token"], "version": "cy@1", "reason": " "}
    answer = client.post(f"{paused}/withdraw", data=values)
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert 'name="version" value="cy@1"' in answer.text


def test_the_controls_link_to_a_confirmation_for_each_bot_and_match(
    client: TestClient, web: WebState, sent: dict[str, object]
) -> None:
    (closed,) = tournaments.last_closed(web.engine, 1)
    text = client.get(f"{FORM}/{closed.id}").text
    assert f'href="/tournaments/{closed.id}"' in text
    for version in closed.entrants:
        assert f"/disqualify?version={version.replace('@', '%40')}" in text
    for match in listing.matches(web.engine, tournament=closed.id):
        path = f"/organiser/matches/{match.id}/void"
        assert f'href="{path}"' in text
        assert client.get(path).status_code == 200


@pytest.mark.long
def test_a_static_site_is_downloaded_as_a_zip(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    closed = arena.play_out(arena.begin("round-robin", arena.bots(3)))
    web = WebState(arena.engine, ServerSettings(rate=0))
    token = organisers.add_organiser(web.engine, "grace")
    with TestClient(create(web), follow_redirects=False) as client:
        client.headers["Accept"] = "text/html"
        path = f"{FORM}/{closed.id}/site.zip"
        assert client.get(path).headers["location"] == "/sign-in"
        sign_in(client, token)
        answer = client.get(path)
        assert answer.headers["cache-control"] == "no-store"
        assert client.get(f"{FORM}/t-000000/site.zip").status_code == 404
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert f"{closed.id}/index.html" in archive.namelist()
    arena.engine.dispose()


def test_a_site_with_an_unreadable_record_is_refused(
    client: TestClient, web: WebState, sent: dict[str, object]
) -> None:
    (closed,) = tournaments.last_closed(web.engine, 1)
    assert client.get(f"{FORM}/{closed.id}/site.zip").status_code == 409

"""Public pages know who is signed in; what they show one person is never shown to another."""

import itertools
import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.access import organisers
from arena.store.bots import owners, submissions, versions
from arena.store.schema import SubmissionStage, SubmissionState
from arena.web.app import create
from arena.web.data import web_state
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.arena.web.page_server import served
from tests.arena.web.pages.test_bot_pages import crash
from tests.arena.web.stored_submissions import add_submission

PERSONS = ("", "ada", "eve", "grace")
"""Nobody, two owners of bots and an organiser."""


@dataclass(frozen=True)
class PersonalPages:
    """An arena with the cookies of each person."""

    client: TestClient
    store: Workspace
    match: StoredMatch
    cookies: dict[str, dict[str, str]]

    def get(self, person: str, path: str, **headers: str) -> tuple[str, dict[str, str]]:
        """Return a page for a person, and its headers."""
        self.client.cookies.clear()
        self.client.cookies.update(self.cookies[person])
        answer = self.client.get(path, headers=headers)
        assert answer.status_code == 200
        return answer.text, dict(answer.headers)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPages]:
    store = Workspace(tmp_path_factory.mktemp("personal") / "data")
    for number, owner in enumerate(("ada", "eve")):
        bot = f"luck{number}"
        versions.add_version(store.store, bot, "1", f"{number:064x}", "/x", {"run": ["x"]}, owner)
    match = play(store, table("poke-2-must_beat=true"), boards=1, change=crash)
    tokens = {name: owners.add_owner(store.store, name) for name in ("ada", "eve")}
    tokens["grace"] = organisers.add_organiser(store.store, "grace")
    web = WebState(store.store, ServerSettings(rate=0))
    with TestClient(create(web), follow_redirects=False) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        client.headers["Accept"] = "text/html"
        cookies: dict[str, dict[str, str]] = {"": {}}
        for name, token in tokens.items():
            client.cookies.clear()
            assert client.post("/sign-in", data={"token": token}).status_code == 303
            cookies[name] = dict(client.cookies)
        yield PersonalPages(client, store, match, cookies)


@pytest.mark.parametrize("order", list(itertools.permutations(PERSONS))[::5])
def test_a_page_of_a_session_is_neither_shared_nor_taken_from_a_cache(
    pages: PersonalPages, order: tuple[str, ...]
) -> None:
    for person in (*order, *order):
        text, headers = pages.get(person, "/bots/luck1/faults")
        assert ("secret plan" in text) is (person == "eve")
        header = text.partition("<header")[2].partition("</header>")[0]
        shown = [name for name in PERSONS[1:] if f">{name}</a>" in header]
        assert shown == ([person] if person else [])
        assert ("Sign in" in header) is not bool(person)
        assert headers["cache-control"] == ("private, no-store" if person else "no-cache")
        assert ("access-control-allow-origin" in headers) is not bool(person)
        assert "Cookie" in headers["vary"].split(", ")


def test_a_tag_of_another_person_does_not_validate_a_page(pages: PersonalPages) -> None:
    _, public = pages.get("", "/bots/luck1/faults")
    for person in PERSONS[1:]:
        text, _ = pages.get(person, "/bots/luck1/faults", **{"If-None-Match": public["etag"]})
        assert f">{person}</a>" in text


def test_who_may_manage_has_a_link_to_the_controls(pages: PersonalPages) -> None:
    match = f"/matches/{pages.match.match}"
    tournament = re.search(r'href="(/tournaments/[^"/.]+)"', pages.get("", match)[0])
    assert tournament is not None
    for person, path in itertools.product(PERSONS, (match, tournament[1])):
        text, _ = pages.get(person, path)
        assert (f'href="/organiser{path}">Manage</a>' in text) is (person == "grace")


def test_data_for_programs_does_not_depend_on_a_session(pages: PersonalPages) -> None:
    texts = {pages.get(person, "/bots/luck1/faults.json")[0] for person in PERSONS}
    (text,) = texts
    assert "secret plan" not in text


def test_a_session_that_has_ended_shows_the_public_page(pages: PersonalPages) -> None:
    ended = dict.fromkeys(pages.cookies["eve"], "x")
    pages.cookies["ended"] = ended
    text, headers = pages.get("ended", "/bots/luck1/faults")
    assert "secret plan" not in text
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["/bots/nobody", "/nothing", "/matches/m-0", "/organiser/matches/m-0"]
)
def test_the_page_of_an_error_has_the_header_of_the_session(
    pages: PersonalPages, path: str
) -> None:
    for person in PERSONS:
        pages.client.cookies.clear()
        pages.client.cookies.update(pages.cookies[person])
        answer = pages.client.get(path)
        if answer.status_code == 303:
            continue
        assert answer.status_code == (403 if "organiser" in path and person != "grace" else 404)
        header = answer.text.partition("<header")[2].partition("</header>")[0]
        assert [name for name in PERSONS[1:] if f">{name}</a>" in header] == [person] * bool(person)
        assert answer.headers["cache-control"] == ("private, no-store" if person else "no-store")
        assert ("access-control-allow-origin" in answer.headers) is not bool(person)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_caches_keep_no_error(pages: PersonalPages, kind: str) -> None:
    pages.client.cookies.clear()
    answer = pages.client.get(f"/bots/nobody.{kind}")
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")


def test_only_the_owner_receives_the_reason_of_a_refusal_live(
    pages: PersonalPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_state, "_READ_SECONDS", 0.05)
    web = WebState(pages.store.store, ServerSettings(rate=0))
    sent = add_submission(pages.store)
    with served(web) as address:
        streams = {}
        for person in ("", "ada", "eve"):
            cookie = "; ".join(f"{name}={value}" for name, value in pages.cookies[person].items())
            request = urllib.request.Request(
                f"{address}/live/submissions/{sent.id}", headers={"Cookie": cookie}
            )
            streams[person] = urllib.request.urlopen(request, timeout=20)
            assert _parts(streams[person])
        submissions.step(web.engine, sent.id, SubmissionStage.CHECKING)
        submissions.decide(
            web.engine, sent.id, SubmissionState.REFUSED, "a secret reason.", status=422
        )
        for person, stream in streams.items():
            text = ""
            while "refused" not in text:
                text = _parts(stream)["submission-state"]
            assert ("a secret reason" in text) is (person == "ada")
            cache = "private, no-store" if person else "no-store"
            assert stream.headers["cache-control"] == cache
            stream.close()


def _parts(stream: Any) -> dict[str, str]:
    """Return the parts of the next event."""
    for line in stream:
        if line.startswith(b"data: "):
            parts: dict[str, str] = json.loads(line[6:])["parts"]
            return parts
    raise EOFError

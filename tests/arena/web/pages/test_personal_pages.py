"""Public pages know who is signed in; what they show one person is never shown to another."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.access import organisers
from arena.store.bots import owners, versions
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.arena.web.pages.test_bot_pages import crash

PERSONS = ("", "ada", "eve", "grace")
"""Nobody, two owners of bots and an organiser."""


@dataclass(frozen=True)
class PersonalPages:
    """An arena with the cookies of each person."""

    client: TestClient
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
        yield PersonalPages(client, match, cookies)


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

"""Atom feeds: valid documents, permanent identities, discovery and conditional requests."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from starlette.testclient import TestClient

from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.records.bundle.simulated_arena import SimulatedArena

ATOM = "{http://www.w3.org/2005/Atom}"
SITE = "https://arena.example"


@pytest.fixture(scope="module")
def simulated_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path_factory.mktemp("arena"))
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def tournament(simulated_arena: SimulatedArena) -> Tournament:
    return simulated_arena.play_out(simulated_arena.begin("knockout", simulated_arena.bots(3)))


@pytest.fixture(scope="module")
def client(simulated_arena: SimulatedArena, tournament: Tournament) -> Iterator[TestClient]:
    with TestClient(
        create(WebState(simulated_arena.engine, ServerSettings(rate=0, site=SITE)))
    ) as client:
        yield client


def valid_feed(document: str) -> Element:
    """Check the rules of RFC 4287, sections 4.1.1 and 4.1.2, and return the feed."""
    feed = ElementTree.fromstring(document)
    assert feed.tag == f"{ATOM}feed"
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    for element in (feed, *feed.iter(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            (child,) = element.findall(f"{ATOM}{name}")
            assert child.text, name
        assert text(element, "id").startswith("urn:uuid:")
        assert datetime.fromisoformat(text(element, "updated")).tzinfo is not None
        for link in element.findall(f"{ATOM}link"):
            assert link.attrib["href"].startswith(f"{SITE}/")
        assert any(link.attrib["rel"] == "alternate" for link in element.findall(f"{ATOM}link"))
    identities = [text(entry, "id") for entry in feed.iter(f"{ATOM}entry")]
    assert len(identities) == len(set(identities))
    times = [text(entry, "updated") for entry in feed.iter(f"{ATOM}entry")]
    assert times == sorted(times, reverse=True)
    assert not times or text(feed, "updated") == times[0]
    return feed


def text(element: Element, name: str) -> str:
    return element.findtext(f"{ATOM}{name}") or ""


def types(feed: Element) -> list[str]:
    return [category.attrib["term"] for category in feed.iter(f"{ATOM}category")]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/ladders/poke", {"tournament.started", "tournament.ended", "version.added"}),
        ("/bots/bot0", {"version.added", "match.closed"}),
        ("/tournaments", {"tournament.started", "tournament.ended"}),
        ("/tournaments/{cup}", {"tournament.started", "match.closed", "tournament.ended"}),
    ],
)
def test_a_page_names_its_feed(
    client: TestClient, tournament: Tournament, address: str, expected: set[str]
) -> None:
    address = address.format(cup=tournament.id)
    answer = client.get(f"{address}.atom")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = valid_feed(answer.text)
    assert set(types(feed)) == expected
    pattern = (
        f'<link rel="alternate" type="application/atom.xml" title="[^"]+" href="{address}.atom">'
    )
    assert len(re.findall(pattern, client.get(address).text)) == 1
    (self_link,) = [each for each in feed.findall(f"{ATOM}link") if each.attrib["rel"] == "self"]
    assert self_link.attrib["href"] == f"{SITE}{address}.atom"
    negotiated = client.get(address, headers={"Accept": "application/atom+xml"})
    assert negotiated.text == answer.text


def test_the_end_of_a_tournament_names_the_winner(
    client: TestClient, tournament: Tournament
) -> None:
    (winner,) = client.get(f"/tournaments/{tournament.id}.json").json()["decision"]["ranking"][0]
    feed = valid_feed(client.get(f"/tournaments/{tournament.id}.atom").text)
    newest = next(feed.iter(f"{ATOM}entry"))
    assert winner in text(newest, "title")


def test_an_entry_has_the_same_identity_in_every_feed(
    client: TestClient, tournament: Tournament
) -> None:
    def identities(address: str) -> set[str]:
        feed = valid_feed(client.get(address).text)
        return {text(entry, "id") for entry in feed.iter(f"{ATOM}entry")}

    of_cup = identities(f"/tournaments/{tournament.id}.atom")
    assert len(identities("/tournaments.atom") & of_cup) == 2
    assert identities("/bots/bot0.atom") & of_cup


def test_identities_survive_a_restart_and_new_entries(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    tournament = arena.begin("round-robin", arena.bots(2))
    feeds = []
    for _ in range(2):
        with TestClient(create(WebState(arena.engine, ServerSettings(rate=0, site=SITE)))) as web:
            feeds.append(valid_feed(web.get(f"/tournaments/{tournament.id}.atom").text))
        if len(feeds) == 1:
            lifecycle.cancel(arena.engine, tournament.id)
    arena.engine.dispose()
    assert [types(feed) for feed in feeds] == [
        ["tournament.started"],
        ["tournament.ended", "tournament.started"],
    ]
    assert text(feeds[0], "id") == text(feeds[1], "id")
    old, new = ([text(e, "id") for e in feed.iter(f"{ATOM}entry")] for feed in feeds)
    assert new[1:] == old


def test_a_feed_that_the_client_has_is_not_sent_again(
    client: TestClient, tournament: Tournament
) -> None:
    address = f"/tournaments/{tournament.id}.atom"
    headers = client.get(address).headers
    tag, modified = headers["etag"], headers["last-modified"]
    for request, status in (
        ({"If-None-Match": tag}, 304),
        ({"If-Modified-Since": modified}, 304),
        ({"If-Modified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        ({"If-None-Match": '"other"', "If-Modified-Since": modified}, 200),
    ):
        assert client.get(address, headers=request).status_code == status, request
    # Pages without this header ignore the condition.
    assert client.get("/bots", headers={"If-Modified-Since": modified}).status_code == 200


def test_a_page_without_a_feed_offers_none(client: TestClient) -> None:
    assert client.get("/bots.atom").status_code == 406
    assert 'type="application/atom+xml"' not in client.get("/bots").text
    assert 'href="/tournaments.atom"' in client.get("/").text

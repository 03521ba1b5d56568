"""Pages for frames and streams: a live table, its overlay, the first bots of a ladder."""

import asyncio

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.errors import NotFound
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, ServerLinks
from arena.web.pages import ladder as ladder_page
from arena.web.pages import live
from arena.web.serving import html_pages
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.pages.test_live_pages import position, running

TABLES = {"embed-table": live.embedded_table, "embed-overlay": live.overlay}


@pytest.fixture
def web(simulated_arena: SimulatedArena) -> WebState:
    return WebState(simulated_arena.engine, ServerSettings(rate=0))


def part(web: WebState, name: str, **query: str) -> str:
    """Return the live part of a page for a frame, after the store was read."""
    asyncio.run(web.read_store())
    page = TABLES[name](web, PageRequest({}, query, ServerLinks()))
    return html_pages.fragments(page, ServerLinks())[name]


def ladder(web: WebState, form: str = "poke", **query: str) -> Page:
    return ladder_page.embedded_ladder(web, PageRequest({"form": form}, query, ServerLinks()))


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_shows_the_closest_table_with_names_and_clocks(
    simulated_arena: SimulatedArena, web: WebState, name: str
) -> None:
    assert "felt" not in part(web, name)
    match = running(simulated_arena)
    web.events.receive(position(match), 0.0)
    for query in ({}, {"match": match.id}):
        shown = part(web, name, **query)
        assert 'class="felt poke' in shown
        assert all(entrant in shown for entrant in match.entrants)


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_of_an_unknown_match_is_not_found(web: WebState, name: str) -> None:
    with pytest.raises(NotFound):
        part(web, name, match="m-nothing")


def test_a_frame_of_a_match_that_is_over_leads_to_its_result(
    simulated_arena: SimulatedArena, web: WebState
) -> None:
    match = running(simulated_arena, most=4)
    web.events.receive(position(match), 0.0)
    shown = part(web, "embed-table", match=match.id)
    assert "felt" not in shown
    assert f'href="/matches/{match.id}"' in shown


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> WebState:
    """Return pages of an arena with a ladder of three bots."""
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {frozenset({"ada", "bob"}): [("ada", "bob")]})
    web = WebState(workspace.store, ServerSettings(rate=0))
    asyncio.run(web.read_store())
    return web


def test_a_frame_shows_as_many_bots_of_a_ladder_as_it_asks_for(rated: WebState) -> None:
    assert [len(ladder(rated, **query).model["lines"]) for query in ({}, {"top": "2"})] == [3, 2]
    with pytest.raises(PageNotFound):
        ladder(rated, "whist")
    for top in ("0", "51", "-1", "³", "1" * 5000, ""):
        with pytest.raises(InvalidQuery):
            ladder(rated, top=top)


def test_only_pages_for_frames_may_be_framed_and_their_links_leave_the_frame(
    rated: WebState,
) -> None:
    client = TestClient(create(rated))
    for path in ("/embed/live", "/embed/overlay", "/embed/ladders/poke"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "frame-ancestors *" in answer.headers["Content-Security-Policy"]
        assert ('<base target="_top">' in answer.text) == (path != "/embed/overlay")
        assert "data-live=" in answer.text
    policy = client.get("/ladders/poke").headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy

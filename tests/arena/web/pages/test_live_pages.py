"""Running matches on the match page, the home page and `/live`, without hidden information."""

import asyncio
import re
from dataclasses import replace
from typing import Any

from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2
from starlette.testclient import TestClient

from arena.presentation.narration import render_view
from arena.store.events.messages import MatchClosed, Position
from arena.store.matches import listing, match_leases
from arena.store.matches.listing import Match
from arena.store.tournaments import tournaments
from arena.web.app import create
from arena.web.data.live_tables import LOG_LINES, open_cards
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.data.win_probabilities import LiveProbability
from arena.web.page import Draw, Page, PageRequest, ServerLinks
from arena.web.pages import home, live, match
from arena.web.serving import html_pages
from referee.games.contract import Game, State
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.replay import codec_of
from tests.arena.records.bundle.simulated_arena import SimulatedArena


def running(simulated_arena: SimulatedArena, most: int = 1) -> Match:
    """Start a match of two boards and play `most` of its games."""
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    (made,) = listing.matches(simulated_arena.engine, tournament=tournament.id)
    simulated_arena.play(made.id, most)
    return listing.find_match(simulated_arena.engine, made.id)


def watched(arena: SimulatedArena, most: int = 1, **settings: Any) -> tuple[WebState, Match]:
    """Return a server, and a running match with `most` played games."""
    return WebState(arena.engine, ServerSettings(**settings)), running(arena, most)


def position(of: Match) -> Position:
    """Return the first position of a game of Poke."""
    game = find_game("poke")
    state = game.start(Seeded(bytes(32)), 2, game.settle({}))
    view = public_view(game, state)
    return Position(of.id, 1, 2, 0, 0, tuple(state.actors), of.entrants, view)


def public_view(game: Game, state: State) -> dict[str, Any]:
    """Return the view of spectators, as a position has it."""
    return MessageToDict(bot_pb2.View.FromString(codec_of(game).view(state.public())))


def page_after_refresh(web: WebState, draw: Draw, **path: str) -> Page:
    """Read the store, then return the page."""
    asyncio.run(web.read_store())
    return draw(web, PageRequest(path, {}, ServerLinks()))


def test_the_live_table_follows_published_positions(simulated_arena: SimulatedArena) -> None:
    web, running_matches = watched(simulated_arena)
    before = html_pages.fragments(
        page_after_refresh(web, match.match_page, id=running_matches.id), ServerLinks()
    )
    assert "with the first event" in before["match-table"]
    web.events.receive(position(running_matches), 0.0)
    page = page_after_refresh(web, match.match_page, id=running_matches.id)
    parts = html_pages.fragments(page, ServerLinks())
    assert "game 2 of 4" in parts["match-table"]
    assert 'class="felt poke' in parts["match-table"]
    assert f"position:{running_matches.id}" in page.topics
    assert page.data["position"]["seating"] == list(running_matches.entrants)


def test_without_spectators_no_live_table_is_shown(simulated_arena: SimulatedArena) -> None:
    web, running_matches = watched(simulated_arena, spectators=False)
    web.events.receive(position(running_matches), 0.0)
    page = page_after_refresh(web, match.match_page, id=running_matches.id)
    assert page.data["position"] is None
    parts = html_pages.fragments(page, ServerLinks())
    assert "The organiser has switched off live tables" in parts["match-table"]
    assert "felt" not in parts["match-table"]


def test_a_delayed_table_shows_its_delay(simulated_arena: SimulatedArena) -> None:
    web, running_matches = watched(simulated_arena, delay=40)
    web.events.receive(position(running_matches), 0.0)
    web.events.release(39.0)
    assert page_after_refresh(web, match.match_page, id=running_matches.id).data["position"] is None
    web.events.release(40.5)
    parts = html_pages.fragments(
        page_after_refresh(web, match.match_page, id=running_matches.id), ServerLinks()
    )
    assert "40 s ago" in parts["match-table"]


def test_the_result_replaces_the_live_table_at_the_end(simulated_arena: SimulatedArena) -> None:
    web, running_matches = watched(simulated_arena, most=4)
    web.events.receive(position(running_matches), 0.0)
    page = page_after_refresh(web, match.match_page, id=running_matches.id)
    assert page.still
    parts = html_pages.fragments(page, ServerLinks())
    assert parts["match-table"].strip() == ""
    assert 'class="sides of2"' in parts["match-state"]


def test_an_interrupted_match_shows_its_last_position(simulated_arena: SimulatedArena) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    (made,) = listing.matches(simulated_arena.engine, tournament=tournament.id)
    waiting = page_after_refresh(web, match.match_page, id=made.id)
    assert html_pages.fragments(waiting, ServerLinks())["match-table"].strip() == ""
    lease = simulated_arena.lease(made.id)
    web.events.receive(position(made), 0.0)
    match_leases.release(simulated_arena.engine, lease)
    page = page_after_refresh(web, match.match_page, id=made.id)
    shown = html_pages.fragments(page, ServerLinks())["match-table"]
    assert 'class="felt poke' in shown
    assert 'class="notice"' in shown
    assert "data-since" not in shown


def test_an_old_win_probability_is_not_shown(simulated_arena: SimulatedArena) -> None:
    web, running_match = watched(simulated_arena)
    web.events.receive(position(running_match), 0.0)
    asyncio.run(web.read_store())
    table = live.shown_table(web, running_match.id).table
    assert table is not None
    for decision, sides in ((3, 2), (4, 0)):
        later = replace(table.position, decision=decision)
        probability = LiveProbability(2, 0, ((0.6, 0.1), (0.4, 0.1)), "engine")
        shown = replace(table, position=later, probability=probability)
        assert len(shown.chances) == sides


def test_an_invalid_position_is_not_shown(simulated_arena: SimulatedArena) -> None:
    web, running_matches = watched(simulated_arena)
    web.events.receive(replace(position(running_matches), view={"whist": {}}), 0.0)
    assert page_after_refresh(web, match.match_page, id=running_matches.id).data["position"] is None


def test_the_home_page_shows_a_match_until_it_ends(simulated_arena: SimulatedArena) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    bots = simulated_arena.bots(3)
    tournament = simulated_arena.begin("round-robin", bots, boards=2)
    every = listing.matches(simulated_arena.engine, tournament=tournament.id)
    for match_id in every[:2]:
        simulated_arena.play(match_id.id, 1)
    first = page_after_refresh(web, home.home_page).model["match"].id
    for _ in range(3):
        assert page_after_refresh(web, home.home_page).model["match"].id == first
    other = next(match_id.id for match_id in every[:2] if match_id.id != first)
    # The page changes to the match with a known position.
    web.events.receive(position(listing.find_match(simulated_arena.engine, other)), 0.0)
    page = page_after_refresh(web, home.home_page)
    assert page.data["shown"]["match"] == other
    assert "felt" in html_pages.fragments(page, ServerLinks())["home-table"]


def test_the_home_page_shows_open_cards_and_another_match_after_each_game(
    simulated_arena: SimulatedArena,
) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    one, other = (position(running(simulated_arena)) for _ in range(2))
    game = find_game("poke")
    state = game.start(Seeded(bytes(32)), 2, game.settle({}))
    while not open_cards(
        render_view("poke", {}, (view := public_view(game, state)), one.seating, state.actors)
    ):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.actors})

    def shown(*positions: Position) -> str:
        for each in positions:
            web.events.receive(each, 0.0)
        match_id: str = page_after_refresh(web, home.home_page).model["match"].id
        return match_id

    assert shown(one, replace(other, view=view)) == other.match
    assert shown(replace(one, view=view), replace(other, decision=1)) == other.match
    assert shown(replace(other, game=other.game + 1)) == one.match


def test_the_home_page_of_an_empty_arena_suggests_commands(simulated_arena: SimulatedArena) -> None:
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings()))) as client:
        page = client.get("/").text
    assert "No ladder yet" in page
    assert "pokearena demo" in page
    assert len(set(re.findall(r'href="/games/\w+"', page))) == 5


def test_the_home_page_lists_recently_closed_matches(simulated_arena: SimulatedArena) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    tournament = simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(3))
    )
    page = page_after_refresh(web, home.home_page)
    ended = [match_id["match"] for match_id in page.data["latest"]]
    assert set(ended) == {
        match_id.id
        for match_id in listing.matches(simulated_arena.engine, tournament=tournament.id)
    }
    assert page.model["match"] is None
    assert tournaments.find_tournament(simulated_arena.engine, tournament.id).ended is not None


def test_live_tables_show_the_score_the_lead_and_the_log(simulated_arena: SimulatedArena) -> None:
    web, match_of_table = watched(simulated_arena)
    game = find_game("poke")
    state = game.start(Seeded(bytes(32)), 2, game.settle({}))
    while max(state.scores) == min(state.scores):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.actors})
    # The first action of the next deal.
    state = state.play({seat: next(iter(state.legal(seat))) for seat in state.actors})
    view = public_view(game, state)
    web.events.receive(replace(position(match_of_table), view=view), 0.0)
    page = page_after_refresh(web, match.match_page, id=match_of_table.id)
    shown = page.model["shown"]
    leader, other = sorted(shown.sides, key=lambda side: side.score, reverse=True)
    assert (leader.lead, other.lead) == (leader.score - other.score, None)
    assert {leader.score, other.score} == set(state.scores)
    assert 0 < len(shown.log) <= LOG_LINES
    assert page.data["position"]["log"][0] == {
        "seat": shown.log[0].seat,
        "action": shown.log[0].phrase,
    }
    # The log has a line between deals.
    between = len({action.chapter for action in shown.log}) - 1
    html = html_pages.fragments(page, ServerLinks())["match-table"]
    assert html.count('<li class="chapter">') == between > 0


def test_the_page_of_live_tables_keeps_matches_in_their_places(
    simulated_arena: SimulatedArena,
) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    assert page_after_refresh(web, live.live_page).data == {
        "tables": [],
        "featured": None,
        "running": [],
    }
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(4), boards=2)
    every = [
        listed.id for listed in listing.matches(simulated_arena.engine, tournament=tournament.id)
    ][:3]
    for match_id in every[:2]:
        simulated_arena.play(match_id, 1)
    waiting = page_after_refresh(web, live.live_page)
    assert {f"position:{match_id}" for match_id in every[:2]} < waiting.topics
    for match_id in every[:2]:
        web.events.receive(position(listing.find_match(simulated_arena.engine, match_id)), 0.0)
    before = page_after_refresh(web, live.live_page).model["tables"]
    assert {before["0"].match.id, before["1"].match.id} == set(every[:2])
    simulated_arena.play(every[2], 1)
    web.events.receive(position(listing.find_match(simulated_arena.engine, every[2])), 0.0)
    web.events.receive(MatchClosed(before["0"].match.id, tournament.id), 0.0)
    page = page_after_refresh(web, live.live_page)
    after = page.model["tables"]
    assert after["1"].match.id == before["1"].match.id
    assert after["0"].match.id == every[2]
    parts = html_pages.fragments(page, ServerLinks())
    assert "felt" in parts["live-place-0"]
    assert parts["live-place-5"].strip() == ""


def test_one_of_the_live_tables_has_its_cards(simulated_arena: SimulatedArena) -> None:
    web = WebState(simulated_arena.engine, ServerSettings())
    for _ in range(2):
        web.events.receive(position(running(simulated_arena)), 0.0)
    parts = html_pages.fragments(page_after_refresh(web, live.live_page), ServerLinks())
    places = [parts[f"live-place-{place}"] for place in range(2)]
    assert ['class="felt' in place for place in places] == [True, False]
    assert all('class="runner' in place for place in places)
    assert "Board" not in "".join(places)


def test_clocks_and_notes_appear_only_if_they_are_published(
    simulated_arena: SimulatedArena,
) -> None:
    web, running_match = watched(simulated_arena)
    at_table = position(running_match)
    web.events.receive(at_table, 0.0)
    page = page_after_refresh(web, match.match_page, id=running_match.id)
    assert [side.clocks for side in page.model["shown"].sides] == [(), ()]
    assert page.data["position"]["bank_ms"] == []
    web.events.receive(replace(at_table, bank_ms=(65_000, 9_580), notes=("", "<b>ace")), 0.0)
    page = page_after_refresh(web, match.match_page, id=running_match.id)
    clocks = [clock for side in page.model["shown"].sides for clock in side.clocks]
    assert [clock.bank_ms for clock in clocks] == [65_000, 9_580]
    assert [clock.is_running for clock in clocks] == [seat in at_table.actors for seat in (0, 1)]
    table = html_pages.fragments(page, ServerLinks())["match-table"]
    assert table.count("data-since=") == len(at_table.actors)
    assert ">1:05<" in table
    assert ">9.5 s<" in table
    assert "&lt;b&gt;ace" in table

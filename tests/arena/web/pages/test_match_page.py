"""The page of a match: complete after the end, and without a result before."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from arena.cli.tournaments import live_table
from arena.ratings.decision_histogram import DecisionHistogram
from arena.services.queue.worker_list import WorkerList
from arena.store.matches import listing, match_leases
from arena.store.matches.listing import Match
from arena.store.matches.match_leases import ArenaFault
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.pages import match as match_page
from arena.web.pages.match_story import EntrantResult
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.store.played_matches import commit, leased
from tests.arena.stored_analysis import store_analysis
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Match]]:
    """Play a match; return a client of its arena, and the match."""
    arena = SimulatedArena(tmp_path_factory.mktemp("closed"))
    match = played(arena)
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        yield client, match
    arena.engine.dispose()


def played(simulated_arena: SimulatedArena, most: int | None = None, fault: bool = False) -> Match:
    """Start a match of two boards; play `most` of its four games, or all."""
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    (match,) = listing.matches(simulated_arena.engine, tournament=tournament.id)
    simulated_arena.play(match.id, most, fault)
    return listing.find_match(simulated_arena.engine, match.id)


def test_a_closed_match_shows_the_result_of_every_board(closed: tuple[TestClient, Match]) -> None:
    client, match = closed
    document = client.get(f"/matches/{match.id}.json").json()
    assert [side["entrant"] for side in document["sides"]] == list(match.entrants)
    assert round(sum(side["score"] for side in document["sides"]), 6) == 1
    for at, side in enumerate(document["sides"]):
        scores = [game["scores"][at] for game in document["results"]]
        assert side["points"] == sum(scores)
        assert side["wins"] + side["draws"] + side["losses"] == 4
        times = [side[name] for name in ("p50_ms", "p95_ms", "p99_ms", "slowest_ms")]
        assert 0 < times[0] <= times[1] <= times[2] <= times[3]
    page = client.get(f"/matches/{match.id}").text
    for game in range(4):
        assert f'href="/matches/{match.id}/games/{game}"' in page
    shown = re.findall(r'<span class="big">([^<]*)<', page)
    assert shown == [f"{100 * side['score']:.1f} %" for side in document["sides"]]
    best = max(side["score"] for side in document["sides"])
    ahead = sum(side["score"] == best for side in document["sides"])
    assert page.count('class="side ahead"') == ahead
    assert page.count('class="victor"') == (ahead == 1)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/matches/{match.id}.csv").text)))
    assert [int(row["score bot0@1"]) for row in rows] == [
        game["scores"][0] for game in document["results"]
    ]


def test_the_slowest_decision_of_each_side_is_linked(closed: tuple[TestClient, Match]) -> None:
    client, match = closed
    lines = list(map(json.loads, client.get(f"/matches/{match.id}.jsonl").text.splitlines()))
    seating = {line["game"]: line["seating"] for line in lines if line["type"] == "game"}
    page = client.get(f"/matches/{match.id}").text
    sides = client.get(f"/matches/{match.id}.json").json()["sides"]
    assert [side["entrant"] for side in sides] == list(match.entrants)
    for side in sides:
        made = [
            (line["ms"], line["game"], line["decision"])
            for line in lines
            if line["type"] == "action" and seating[line["game"]][line["seat"]] == side["entrant"]
        ]
        ms, game, decision = max(made)
        question = f"{match.id}:{game}:{decision}"
        assert side["slowest"] == {
            "game": game,
            "decision": decision,
            "ms": ms,
            "question": question,
        }
        assert side["slowest_ms"] == ms
        assert f'href="/matches/{match.id}/games/{game}?decision={decision}"' in page
        assert f'title="{question}"' in page


def test_seed_and_record_are_published_when_the_match_closes(
    closed: tuple[TestClient, Match],
) -> None:
    client, match = closed
    record = client.get(f"/matches/{match.id}.jsonl")
    seed = json.loads(record.text.splitlines()[-1])["seed"]
    assert client.get(f"/matches/{match.id}.json").json()["seed"] == seed
    assert seed in client.get(f"/matches/{match.id}").text
    wait_until(lambda: "being checked" not in client.get(f"/matches/{match.id}").text)
    assert "✓" in client.get(f"/matches/{match.id}").text
    assert f'filename="{match.id}.jsonl"' in record.headers["content-disposition"]


def test_an_open_match_shows_only_its_progress(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    match = played(simulated_arena, most=3, fault=True)
    document = client.get(f"/matches/{match.id}.json").json()
    assert (document["games"], document["planned"], document["state"]) == (3, 4, "running")
    assert not {"sides", "results", "faults", "seed"} & document.keys()
    page = client.get(f"/matches/{match.id}").text
    assert "3 of 4 games finished" in page
    assert "silent" not in page
    assert 'class="side' not in page
    assert client.get(f"/matches/{match.id}.csv").text.count("\n") == 1
    record = client.get(f"/matches/{match.id}.jsonl").text
    assert [json.loads(line)["type"] for line in record.splitlines()] == ["match"]


def test_a_match_that_failed_shows_its_reason_and_next_attempt(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    engine = simulated_arena.engine
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2))
    (match,) = listing.matches(engine, tournament=tournament.id)
    lease = match_leases.lease(engine, match.id, "worker")
    assert lease is not None
    assert live_table.SnapshotReader(engine, tournament.id, WorkerList("")).now().waits == ""
    match_leases.release(engine, lease, ArenaFault("It broke.", "machine"))
    reason = listing.waiting_reason(listing.find_match(engine, match.id))
    assert reason
    assert html.escape(reason) in client.get(f"/matches/{match.id}").text
    # `tournament run` shows it too.
    waits = live_table.SnapshotReader(engine, tournament.id, WorkerList("")).now().waits
    assert waits == f"{match.id} {reason}"


def test_equal_faults_are_listed_once(simulated_arena: SimulatedArena, client: TestClient) -> None:
    match = played(simulated_arena, fault=True)
    document = client.get(f"/matches/{match.id}.json").json()
    (fault,) = document["faults"]
    assert (fault["verdict"], fault["sentence"], fault["times"]) == ("timeout", "It was silent.", 1)
    page = client.get(f"/matches/{match.id}").text
    assert f"pokearena ask {match.id}:{fault['game']}:{fault['decision']} BOT" in page


def test_the_story_leads_to_the_decisive_game(closed: tuple[TestClient, Match]) -> None:
    client, match = closed
    document = client.get(f"/matches/{match.id}.json").json()
    story, sides = document["story"], document["sides"]
    best = max(side["score"] for side in sides)
    assert story["winners"] == [side["entrant"] for side in sides if side["score"] == best]
    decisive = story["decisive"]
    assert decisive["entrant"] in match.entrants
    page = client.get(f"/matches/{match.id}").text
    assert f'class="watch" href="/matches/{match.id}/games/{decisive["game"]}"' in page
    assert client.get(f"/matches/{match.id}/games/{decisive['game']}").status_code == 200
    # Hashes and commands are folded.
    first_screen, details, _ = page.partition("<details")
    assert details
    assert match.commitment not in first_screen
    assert "pokearena" not in first_screen.partition("<main")[2]


def test_swings_of_an_analysis_are_turning_points(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    match = played(simulated_arena)
    store_analysis(simulated_arena.engine, match.id)
    story = client.get(f"/matches/{match.id}.json").json()["story"]
    # Seat 0 of the first game belongs to the first entrant.
    first = {"game": 0, "decision": 0, "entrant": match.entrants[0]}
    assert first in story["turning_points"]
    assert {point["game"] for point in story["turning_points"]} == {0, 1}
    page = client.get(f"/matches/{match.id}").text
    turning_points = page.partition('class="moments"')[2].partition("</ol>")[0]
    assert f'href="/matches/{match.id}/games/0?decision=0"' in turning_points
    # Each names the action.
    assert all(", as " in point for point in turning_points.split("<li>")[1:])


def test_an_unknown_match_is_not_found(client: TestClient) -> None:
    answer = client.get("/matches/m-nothing.json")
    assert answer.status_code == 404
    assert "unknown match m-nothing" in answer.json()["error"]


def test_the_winner_with_fewer_points_is_explained() -> None:
    def side(name: str, points: int, share: float, ahead: bool) -> EntrantResult:
        return EntrantResult(name, 0, 0, 0, points, 2, share, ahead, 0, DecisionHistogram(), None)

    rich, winner = side("rich@1", 900, 0.4, ahead=False), side("winner@1", 20, 0.6, ahead=True)
    assert match_page.richest_loser([rich, winner]) is rich
    assert match_page.richest_loser([side("rich@1", 900, 0.6, ahead=True), winner]) is None
    assert match_page.richest_loser([]) is None


def test_the_grid_of_games_is_paged_and_the_data_are_complete(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    match = played(simulated_arena)
    links = [f'href="/matches/{match.id}/games/{game}"' for game in range(4)]
    for number, own in ((1, links[:3]), (2, links[3:])):
        page = client.get(f"/matches/{match.id}?page={number}&limit=3")
        grid = page.text.partition('<ul class="boards">')[2].partition("</ul>")[0]
        assert [link for link in links if link in grid] == own
        assert ('rel="next"' in page.headers["Link"]) == (number == 1)
    document = client.get(f"/matches/{match.id}.json?limit=3").json()
    assert len(document["results"]) == 4


def test_tags_are_shown_when_the_match_is_closed(simulated_arena: SimulatedArena) -> None:
    engine = simulated_arena.engine
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=1)
    (match,) = listing.matches(engine, tournament=tournament.id)
    lease = leased(engine, match.id)
    commit(engine, lease, 0, tags=[["book <b>"], []])
    for page in (f"/matches/{match.id}.json", f"/matches/{match.id}", "/matches.json"):
        assert "book" not in current_page(simulated_arena, page)
    commit(engine, lease, 1, tags=[[], ["end"]])
    document = json.loads(current_page(simulated_arena, f"/matches/{match.id}.json"))
    assert [game["tags"] for game in document["results"]] == [[["book <b>"], []], [[], ["end"]]]
    address = "/matches?tag=book+%3Cb%3E"
    found = json.loads(current_page(simulated_arena, address.replace("?", ".json?")))
    assert [each["match"] for each in found["matches"]] == [match.id]
    page = current_page(simulated_arena, f"/matches/{match.id}")
    assert f'<a href="{address}">book &lt;b&gt;</a>' in page


def current_page(simulated_arena: SimulatedArena, address: str) -> str:
    """Return a page of a web server that has just started."""
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    with TestClient(create(web)) as client:
        return client.get(address).text

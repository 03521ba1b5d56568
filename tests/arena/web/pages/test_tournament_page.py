"""Pages of tournaments: the list, standings, brackets, crosstables and downloads."""

import asyncio
import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.ladders import rater
from arena.records.bundle.audit import audit
from arena.records.bundle.folder import read
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.matches import corrections, listing
from arena.store.schema import MatchState
from arena.store.tournaments import lifecycle, tournaments
from arena.submissions import open_ladders
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import PageRequest, ServerLinks
from arena.web.pages import home, ladder, tournament
from arena.web.serving import html_pages
from tests import tar_files
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SimulatedArena, str]]:
    """Play a round robin of three bots; return its arena and its id."""
    arena = SimulatedArena(tmp_path_factory.mktemp("over"))
    yield arena, arena.play_out(arena.begin("round-robin", arena.bots(3))).id
    arena.engine.dispose()


def test_an_arena_without_tournaments_suggests_a_command(client: TestClient) -> None:
    assert "No tournament has been played" in client.get("/tournaments").text


def test_tournaments_are_listed_newest_first(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    bots = simulated_arena.bots(2)
    made = [simulated_arena.begin("round-robin", bots).id for _ in range(3)]
    document = client.get("/tournaments.json?limit=2").json()
    assert [tournament["tournament"] for tournament in document["tournaments"]] == made[:0:-1]
    assert document["list"]["next"] == 2
    page = client.get("/tournaments").text
    ids = re.findall(r'href="/tournaments/(t-\w+)"', page)
    assert ids == made[::-1]


def test_tournaments_that_are_not_over_are_listed_first(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    bots = simulated_arena.bots(2)
    running, paused = (simulated_arena.begin("round-robin", bots) for _ in range(2))
    for each in (running, paused):
        lifecycle.pause(simulated_arena.engine, each.id)
    over = simulated_arena.play_out(simulated_arena.begin("round-robin", bots))
    lifecycle.resume(simulated_arena.engine, running.id)
    document = client.get("/tournaments.json").json()
    ids = [line["tournament"] for line in document["tournaments"]]
    assert ids == [running.id, paused.id, over.id]
    page = client.get("/tournaments").text
    assert re.findall(r'<h2 id="(\w+)"', page) == ["running", "paused", "finished"]


@pytest.mark.parametrize("challengers", [1, 2])
def test_a_gauntlet_ranks_its_challengers_only(
    simulated_arena: SimulatedArena, client: TestClient, challengers: int
) -> None:
    bots = simulated_arena.bots(4)
    over = simulated_arena.play_out(
        simulated_arena.begin("gauntlet", bots, settings={"challengers": challengers})
    )
    page = client.get(f"/tournaments/{over.id}").text
    standings = page.partition('id="standings"')[2].partition("</table>")[0]
    first, field = standings.split("<tbody>")[1:]
    assert set(re.findall(r'data-key="([^"]+)"', first)) == {*bots[:challengers]}
    unranked = r'<tr data-key="[^"]+">\s*<td class="dim">–</td>'
    assert len(re.findall(unranked, first)) == (1 if challengers == 1 else 0)
    assert len(re.findall(unranked, field)) == len(bots) - challengers
    ranks = {
        line["entrant"]: line["rank"]
        for line in client.get(f"/tournaments/{over.id}.json").json()["standings"]
    }
    assert not any(ranks[name] for name in bots[challengers:])
    # A challenger alone has nobody to be compared with.
    assert ('class="champions"' in page) == (challengers == 2)
    assert ("Best challenger: " in client.get("/tournaments").text) == (challengers == 2)


def test_a_round_robin_has_standings_a_crosstable_and_a_download_that_verifies(
    over: tuple[SimulatedArena, str], tmp_path: Path
) -> None:
    arena, name = over
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        document = client.get(f"/tournaments/{name}.json").json()
        page = client.get(f"/tournaments/{name}").text
        bundle = client.get(f"/tournaments/{name}/bundle.tar.gz")
    assert {line["entrant"] for line in document["standings"]} == {"bot0@1", "bot1@1", "bot2@1"}
    assert document["decision"]["step"] == "over"
    assert "Crosstable" in page
    assert "Everyone has met everyone." in page
    for match in listing.matches(arena.engine, tournament=name):
        assert f'href="/matches/{match.id}"' in page
    assert page.count('class="heat-legend"') == 1
    cells = re.findall(
        r'<td class="heat [^"]*"><a href="/matches/m-\w+" title="[^"]*, matches (\d+)"'
        r".*?(?:<small>(\d+)<|</td>)",
        page,
    )
    # All pairs have played equally often, so the cells do not show the number.
    assert cells == [("1", "")] * 6
    assert bundle.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(bundle.content)) as archive:
        tar_files.extract_all(archive, tmp_path / "got")
    done = audit(read(tmp_path / "got" / name))
    assert (done.problems, done.matches) == ((), {MatchState.CLOSED: 3})


def test_a_swiss_tournament_is_ordered_by_points(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    begun_tournament = simulated_arena.play_out(
        simulated_arena.begin("swiss", simulated_arena.bots(5), settings={"rounds": 3})
    )
    document = client.get(f"/tournaments/{begun_tournament.id}.json").json()
    worth = [tuple(line["swiss"].values()) for line in document["standings"]]
    assert worth == sorted(worth, reverse=True)
    # With five bots, a win or a bye gives two points, and a match two points in total.
    assert sum(points for points, _, _ in worth) == 3 * (2 * 2 + 2)
    page = client.get(f"/tournaments/{begun_tournament.id}").text
    assert _match_points(page) == [points for points, _, _ in worth]
    for number in range(3):
        fixtures = page.partition(f">Round {number + 1}</h3>")[2].partition("</ul>")[0]
        names = re.findall(r"bot\d", re.sub("<small.*?</small>|<[^>]*>", " ", fixtures))
        assert sorted(names) == [f"bot{each}" for each in range(5)]
        assert fixtures.count(">bye<") == 1
    ranked = [name for group in document["decision"]["ranking"] for name in group]
    assert [line["entrant"] for line in document["standings"]] == ranked


def _match_points(page: str) -> list[int]:
    """Return the match points of the standings, in their order."""
    table = page.partition('id="standings"')[2].partition("</table>")[0]
    return [int(points) for points in re.findall(r"<td><b>(\d+)</b></td>", table)]


def test_a_knockout_is_drawn_as_a_bracket(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    begun_tournament = simulated_arena.begin("knockout", simulated_arena.bots(5))
    begun = client.get(f"/tournaments/{begun_tournament.id}").text
    assert begun.count('class="tie"') == 4 + 2 + 1
    assert begun.count(">bye<") == 3
    assert begun.count("undecided") == 3
    begun_tournament = simulated_arena.play_out(begun_tournament)
    # Use another URL, because the first response is cached.
    page = client.get(f"/tournaments/{begun_tournament.id}?page=1").text
    assert "to be decided" not in page
    winner = client.get(f"/tournaments/{begun_tournament.id}.json").json()["decision"]["ranking"][
        0
    ][0]
    final = page.partition(">Final<")[2].partition("</section>")[0]
    name = winner.partition("@")[0]
    assert re.search(rf'class="through"><a class="bot" href="/bots/{name}"', final)


def test_open_matches_are_not_counted(simulated_arena: SimulatedArena, client: TestClient) -> None:
    begun_tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    (match,) = listing.matches(simulated_arena.engine, tournament=begun_tournament.id)
    simulated_arena.play(match.id, most=3)
    rater.advance(simulated_arena.engine)
    document = client.get(f"/tournaments/{begun_tournament.id}.json").json()
    assert (document["games"], document["planned"], document["state"]) == (3, 4, "running")
    assert [line["games"] for line in document["standings"]] == [0, 0]
    assert document["seed"] is None
    page = client.get(f"/tournaments/{begun_tournament.id}").text
    assert "being played" in page
    assert bytes(32).hex() not in page
    assert not re.search('class="(won|champions)"', page)
    assert 'class="champions"' not in client.get("/tournaments").text
    assert client.get(f"/tournaments/{begun_tournament.id}/bundle.tar.gz").status_code == 404


def test_a_running_round_robin_is_ordered_by_the_points_so_far(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    begun = simulated_arena.begin("round-robin", simulated_arena.bots(4))
    first, *_ = listing.matches(simulated_arena.engine, tournament=begun.id)
    simulated_arena.play(first.id)
    rater.advance(simulated_arena.engine)
    document = client.get(f"/tournaments/{begun.id}.json").json()
    assert document["standings"][0]["entrant"] in first.entrants
    points = _match_points(client.get(f"/tournaments/{begun.id}").text)
    assert (points, sum(points)) == (sorted(points, reverse=True), 2)
    assert document["state"] == "running"


def test_matches_are_paged(simulated_arena: SimulatedArena, client: TestClient) -> None:
    begun_tournament = simulated_arena.begin("round-robin", simulated_arena.bots(4))
    first = client.get(f"/tournaments/{begun_tournament.id}.json?limit=4").json()
    second = client.get(f"/tournaments/{begun_tournament.id}.json?limit=4&page=2").json()
    # Entrants without matches are not remarked on.
    assert "not linked" not in str(first)
    ids = [match["match"] for match in first["schedule"] + second["schedule"]]
    assert ids == [
        match.id
        for match in listing.matches(simulated_arena.engine, tournament=begun_tournament.id)
    ]


def test_verified_records_are_counted(simulated_arena: SimulatedArena, client: TestClient) -> None:
    begun_tournament = simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(2))
    )
    (match,) = listing.matches(simulated_arena.engine, tournament=begun_tournament.id)
    other = simulated_arena.play_out(
        simulated_arena.begin("round-robin", begun_tournament.entrants)
    )
    wait_until(lambda: "being checked" not in client.get(f"/matches/{match.id}").text)
    assert "all of the 1 record above" in client.get(f"/tournaments/{begun_tournament.id}").text
    assert "when its match's page is opened" in client.get(f"/tournaments/{other.id}").text.replace(
        "&#39;", "'"
    )


def test_the_home_page_links_the_open_ladders(simulated_arena: SimulatedArena) -> None:
    open_ladders.create_missing(simulated_arena.engine, [open_ladders.plan_of("poke")])
    (ladder,) = open_ladders.list_open_ladders(simulated_arena.engine)
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        values = client.get("/", headers={"Accept": "application/json"}).json()
        assert values["open_ladders"] == {"poke": ladder.id}
        assert f'href="/tournaments/{ladder.id}"' in client.get("/").text


def test_winners_of_matches_and_of_the_tournament_are_named(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    begun_tournament = simulated_arena.play_out(
        simulated_arena.begin("knockout", simulated_arena.bots(4), boards=2)
    )
    page = client.get(f"/tournaments/{begun_tournament.id}").text
    home = client.get("/").text
    champion = client.get(f"/tournaments/{begun_tournament.id}.json").json()["standings"][0][
        "entrant"
    ]
    (named,) = re.findall(r'class="champions">(.*?)</p>', page)
    winner, *others = re.sub("<[^>]*>", "", named.replace('<span class="place">', "\n")).split("\n")
    assert winner.strip() == f"Winner: {champion}"
    assert [other.partition(" ")[0] for other in others] == ["2.", "3–4.", "3–4."]
    # The bracket comes before the standings.
    assert page.index('id="bracket"') < page.index('id="standings"')
    final = page.partition('aria-label="the winner"')[2].partition("</section>")[0]
    assert f"/bots/{champion.partition('@')[0]}" in final
    for text in (client.get("/tournaments").text, home):
        (row,) = re.findall(
            rf'<li[^>]* data-key="{begun_tournament.id}">(.*?)</li>', text, re.DOTALL
        )
        assert f"Winner: {champion}" in re.sub("<[^>]*>", "", row)
    played = listing.matches(simulated_arena.engine, tournament=begun_tournament.id)
    assert played
    for match in played:
        sides = client.get(f"/matches/{match.id}.json").json()["sides"]
        best = max(side["score"] for side in sides)
        first = [side["entrant"] for side in sides if side["score"] == best]
        outcome = f"{first[0]} won" if len(first) == 1 else "drawn"
        for text in (page, home):
            (row,) = re.findall(rf'<li data-key="{match.id}">(.*?)</li>', text, re.DOTALL)
            (won,) = re.findall('class="won[^"]*">(.*?)</small>', row)
            assert re.sub("<[^>]*>", "", won) == outcome


@pytest.mark.parametrize("pairing", ["swiss", "knockout", "round-robin"])
def test_a_tournament_that_nobody_has_rated_yet_lists_its_entrants(
    simulated_arena: SimulatedArena, pairing: str
) -> None:
    begun = simulated_arena.begin(pairing, simulated_arena.bots(4))
    web = WebState(simulated_arena.engine, ServerSettings())
    page_request = PageRequest({"id": begun.id}, {}, ServerLinks())
    shown = tournament.tournament_page(web, page_request)
    assert isinstance(shown.data, dict)
    assert {line["entrant"] for line in shown.data["standings"]} == {*begun.entrants}
    rater.advance(simulated_arena.engine)
    rated = tournament.tournament_page(web, page_request)
    assert isinstance(rated.data, dict)
    assert shown.data["standings"] == rated.data["standings"]


def test_a_closed_tournament_is_final_when_it_is_rated(simulated_arena: SimulatedArena) -> None:
    engine = simulated_arena.engine
    begun = simulated_arena.begin("round-robin", simulated_arena.bots(2))
    rater.advance(engine)
    simulated_arena.wave()
    closed = simulated_arena.find(begun)
    web = WebState(engine, ServerSettings())
    page_request = PageRequest({"id": begun.id}, {}, ServerLinks())
    held = [(closed, tournaments.progress(engine, begun.id))]
    assert not tournament.tournament_page(web, page_request).still
    assert web.champions.of(held) == {}
    rater.advance(engine)
    assert tournament.tournament_page(web, page_request).still
    assert begun.id in web.champions.of(held)
    [match] = listing.matches(engine, tournament=begun.id)
    corrections.void(engine, match.id, COMMAND_LINE, "a wrong table")
    assert not tournament.tournament_page(web, page_request).still


def test_the_settings_of_a_tournament_follow_its_end(simulated_arena: SimulatedArena) -> None:
    begun_tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), seed=None)
    web = WebState(simulated_arena.engine, ServerSettings())
    page_request = PageRequest({"id": begun_tournament.id}, {}, ServerLinks())
    running = tournament.tournament_page(web, page_request)
    simulated_arena.play_out(begun_tournament)
    closed = tournament.tournament_page(web, page_request)
    settings = [
        html_pages.fragments(page, ServerLinks())["tournament-settings"]
        for page in (running, closed)
    ]
    assert ["secret" in part for part in settings] == [True, False]


def test_a_round_robin_names_its_winner_and_the_significance(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    over = simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(4), boards=1)
    )
    document = client.get(f"/tournaments/{over.id}.json").json()
    first, *_ = document["decision"]["ranking"]
    assert [line["entrant"] for line in document["standings"]][: len(first)] == first
    page = client.get(f"/tournaments/{over.id}").text
    points = _match_points(page)
    assert len(points) == 4
    # Six matches of two points each; the order is that of the points.
    assert (points, sum(points)) == (sorted(points, reverse=True), 12)
    (named,) = re.findall(r'class="champions">(.*?)</p>', page)
    words = "Winner" if len(first) == 1 else "Shared first place"
    assert re.sub("<[^>]*>", "", named).startswith(f"{words}: ")
    assert all(name in re.sub("<[^>]*>", "", named) for name in first)
    assert ("confidence of 95" in page) == (len(first) == 1)
    feed = client.get(f"/tournaments/{over.id}.atom").text
    assert "not decided" not in feed


def test_an_open_ladder_has_the_rows_of_its_form_and_no_ranking_of_its_own(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    bots = simulated_arena.bots(3)
    cup = simulated_arena.play_out(simulated_arena.begin("round-robin", bots))
    opened = simulated_arena.begin("ladder", bots, settings={"open": True})
    simulated_arena.wave(2)
    rater.advance(simulated_arena.engine)
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    asyncio.run(web.read_store())
    links = ServerLinks()
    ladder_page = ladder.ladder_page(web, PageRequest({"form": cup.plan.form}, {}, links))
    page = tournament.tournament_page(web, PageRequest({"id": opened.id}, {}, links))
    rated = [(line["entrant"], line["strength"]) for line in ladder_page.data["standings"]]
    assert [(line["entrant"], line["strength"]) for line in page.data["standings"]] == rated
    html = html_pages.html(page, links)
    assert f'href="/ladders/{cup.plan.form}"' in html
    assert 'id="standings"' not in html
    assert 'id="crosstable"' not in html
    for match in listing.matches(simulated_arena.engine, tournament=opened.id):
        assert f'href="/matches/{match.id}"' in html
    assert f'href="/tournaments/{opened.id}"' in html_pages.html(ladder_page, links)


def test_endless_ladders_are_listed_as_ladders_and_not_as_tournaments(
    simulated_arena: SimulatedArena, client: TestClient
) -> None:
    bots = simulated_arena.bots(3)
    cup = simulated_arena.begin("round-robin", bots)
    opened = simulated_arena.begin("ladder", bots, settings={"open": True})
    limited = simulated_arena.begin("ladder", bots, settings={"limit": 4})
    listed = client.get("/tournaments.json").json()["tournaments"]
    assert [each["tournament"] for each in listed] == [limited.id, cup.id]
    simulated_arena.wave()
    rater.advance(simulated_arena.engine)
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    asyncio.run(web.read_store())
    page = ladder.ladders_page(web, PageRequest({}, {}, ServerLinks()))
    (shown,) = page.data["ladders"]
    assert (shown["form"], shown["bots"], shown["schedule"]) == (cup.plan.form, 3, opened.id)
    assert len(shown["standings"]) == 3
    html = html_pages.html(page, ServerLinks())
    assert f'href="/ladders/{cup.plan.form}"' in html
    going = home.home_page(web, PageRequest({}, {}, ServerLinks())).model["going"]
    assert opened.id not in {line.tournament.id for line in going}


def test_the_number_of_an_only_version_is_hidden(
    simulated_arena: SimulatedArena,
) -> None:
    bots = simulated_arena.bots(2)
    versions.add_version(simulated_arena.engine, "bot0", "2", "e" * 64, "/bots/e", {})
    begun = simulated_arena.begin("round-robin", bots)
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    with TestClient(create(web)) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        page = client.get(f"/tournaments/{begun.id}").text
    assert 'bot0<span class="number">@1' in page
    assert 'bot1<span class="number" hidden>@1' in page
    assert 'bot0<span class="number" hidden>' not in page

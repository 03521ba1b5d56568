"""Pages of a ladder: ratings over time, rank changes, crosstable, comparisons of two bots."""

import asyncio
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.ladders import seat_advantage
from arena.ladders.columns import to_json
from arena.ladders.rating_history import RatingHistory
from arena.ratings import control_variates, meetings
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.standings import StandingsLine
from arena.ratings.strength import fit
from arena.ratings.strength.fit import Strength, StrengthBound
from arena.records.luck_adjustment import adjusted_standings
from arena.records.luck_adjustment.match_luck import method_of
from arena.store.bots import versions
from arena.store.idle_results import LUCK
from arena.store.matches import results
from arena.web import rating_curves
from arena.web.app import create
from arena.web.data.snapshot import RatingChart
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import PageRequest, ServerLinks
from arena.web.pages import ladder, matrix
from arena.web.serving import html_pages
from tests.arena.cli.stored_tournament import store_tournament

BEATS = {
    frozenset({"ada", "bob"}): [("ada", "bob"), ("ada", "bob"), ("bob", "ada")],
    frozenset({"ada", "cy"}): [("ada", "cy")],
    frozenset({"bob", "cy"}): [("bob", "cy"), ("cy", "bob")],
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], BEATS, boards=3, cycles=4)
    return workspace


@pytest.fixture
def web(workspace: Workspace) -> WebState:
    return WebState(workspace.store, ServerSettings())


@contextmanager
def client_of(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web)) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        yield client


@pytest.fixture(scope="module")
def shared_client(workspace: Workspace) -> Iterator[TestClient]:
    with client_of(WebState(workspace.store, ServerSettings())) as client:
        yield client


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    """Return the client of all tests, but an own one for a test that changes its state."""
    if {"web", "monkeypatch"} & set(request.fixturenames):
        with client_of(request.getfixturevalue("web")) as client:
            yield client
    else:
        yield request.getfixturevalue("shared_client")


def test_a_ladder_shows_a_sparkline_for_every_bot(client: TestClient, web: WebState) -> None:
    page = client.get("/ladders/poke").text
    assert page.count('<svg class="spark"') == 3
    assert 'aria-label="from ' in page
    assert len(web.snapshot.charts["poke"].past.points) == 12
    assert ">24 h<" not in page


def test_a_ladder_shows_rank_changes_of_a_day(web: WebState) -> None:
    asyncio.run(web.read_store())
    order = [line.entrant for line in web.snapshot.ladders["poke"].table.lines]
    assert order == ["ada@1", "bob@1", "cy@1"]
    chart = RatingChart(RatingHistory(yesterday={"bob@1": 1, "ada@1": 2}))
    web.snapshot = replace(web.snapshot, charts={"poke": chart})
    links = ServerLinks()
    page = ladder.ladder_page(
        web, PageRequest({"form": "poke"}, {"sort": "move", "columns": "all"}, links)
    )
    html = html_pages.html(page, links)
    assert 'title="1 up in 24 hours">▲1' in html
    assert 'title="1 down in 24 hours">▼1' in html
    assert [line["places_gained_24h"] for line in page.data["standings"]] == [1, -1, None]


def test_a_large_ladder_is_paged(client: TestClient) -> None:
    answer = client.get("/ladders/poke.json?limit=2&sort=-bot")
    assert [line["entrant"] for line in answer.json()["standings"]] == ["cy@1", "bob@1"]
    assert answer.json()["list"]["total"] == 3
    assert answer.headers["link"] == '<?limit=2&sort=-bot&page=2>; rel="next"'
    page = client.get("/ladders/poke?limit=2&sort=-bot&page=2").text
    assert page.count("<tr data-key=") == 1
    assert 'ada<span class="number" hidden>@1</span>' in page
    assert "<caption>3 bots." in page
    assert "page 2 of 2" in page


def test_a_ladder_page_makes_no_store_query(web: WebState) -> None:
    asyncio.run(web.read_store())
    paths: list[str] = []

    @event.listens_for(web.engine, "before_cursor_execute")
    def _note(connection: Any, cursor: Any, query: str, *_: Any) -> None:
        paths.append(query)

    links = ServerLinks()
    page = html_pages.html(
        ladder.ladder_page(web, PageRequest({"form": "poke"}, {"limit": "2"}, links)), links
    )
    assert "page 1 of 2" in page
    assert paths == []
    with web.engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
    assert paths[-1:] == ["SELECT 1"]


def test_every_pair_of_the_crosstable_links_to_its_comparison(
    client: TestClient,
) -> None:
    page = client.get("/ladders/poke/matrix").text
    assert page.count('<td class="heat') == 6
    assert page.count('<td class="self">') == 3
    assert 'href="/ladders/poke/compare?one=ada%401&amp;other=bob%401"' in page
    assert re.search(r'title="ada against bob: score in % 67, .*, matches 4"', page)
    cells = client.get("/ladders/poke/matrix.json").json()["cells"]
    assert cells[0][0] is None
    assert cells[0][1]["score"] == pytest.approx(2 / 3)
    assert cells[1][0]["score"] == pytest.approx(1 / 3)
    rows = list(csv.DictReader(io.StringIO(client.get("/ladders/poke/matrix.csv").text)))
    assert len(rows) == 6
    assert {row["matches"] for row in rows} == {"4"}
    first, (low, _) = rows[0], cells[0][1]["interval"]
    assert (first["bot"], first["opponent"], float(first["low"])) == ("ada@1", "bob@1", low)


def test_cells_are_coloured_by_score_and_bold_if_significant() -> None:
    few = CrosstableCell(matches=1, score=1.0, low=0.46, high=1.0)
    many = CrosstableCell(matches=200, score=0.58, low=0.51, high=0.65)
    clear = CrosstableCell(matches=200, score=0.9, low=0.85, high=0.93)
    behind = CrosstableCell(matches=200, score=0.1, low=0.07, high=0.15)
    even = CrosstableCell(matches=4, score=0.5, low=0.1, high=0.9)
    cells = (few, many, clear, behind, even)
    assert [matrix.score_cell("ada@1", "bob@1", cell).heat for cell in cells] == [
        "up shade4",
        "up shade1 sure",
        "up shade3 sure",
        "down shade3 sure",
        "even",
    ]


def test_a_crosstable_has_a_legend_of_every_shade(client: TestClient) -> None:
    for query in ("", "?los=1"):
        page = client.get(f"/ladders/poke/matrix{query}").text
        (legend,) = re.findall(r'class="heat-legend">(.*?)</p>', page)
        shades = re.findall(r'class="heat (\w+ \w+)"', legend)
        assert sorted(shades) == sorted(
            f"{side} shade{shade}" for side in ("up", "down") for shade in (1, 2, 3, 4)
        )


def test_rows_of_the_home_page_are_keyed_by_ladder_and_version(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob"], {})
    store_tournament(workspace, ["ada", "bob"], {}, game="pouku")
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        keys = re.findall(r'<tr data-key="([^"]*)"', client.get("/").text)
    assert len(keys) == len(set(keys)) == 4
    assert {key.partition("/")[2] for key in keys} == {"ada@1", "bob@1"}


def test_a_strength_with_a_wide_interval_is_not_shown_as_a_value() -> None:
    def shown(margin: float, matches: int = 3, bound: StrengthBound | None = None) -> str:
        strength = Strength(
            *("ada@1", 1, 4, 850.0, 850.0 - margin, 850.0 + margin, margin / 2, matches, 3),
            provisional=True,
            anchored=False,
            group=0,
            bound=bound,
        )
        line = StandingsLine("ada@1", strength, 0.0, matches, 0, 0, 0, 0, 0, None, None, {}, 0)
        template = html_pages.environment().from_string(
            '{% from "parts/ratings.html" import strength %}{{ strength(line) }}'
        )
        return re.sub("<[^>]*>", "", template.render(line=line)).strip()

    assert shown(1054.0) == "850 ±1054?"
    assert shown(90.0) == "850 ±90?"
    assert shown(90.0, matches=0) == "–"
    assert shown(90.0, bound=StrengthBound("above", 800.0, 0.95)) == "850 won all"


def test_the_crosstable_can_show_likelihoods_of_superiority(client: TestClient) -> None:
    text = client.get("/ladders/poke/matrix.txt?los=1").text.splitlines()
    superior = [line.split()[2:] for line in text[2:]]
    assert superior[0][0] == "·"
    assert float(superior[0][2]) + float(superior[2][0]) == pytest.approx(100, abs=0.11)
    assert "is stronger than cy with" in client.get("/ladders/poke/matrix?los=1").text


def test_a_large_crosstable_is_paged(client: TestClient) -> None:
    answer = client.get("/ladders/poke/matrix.json?limit=2")
    assert answer.json()["bots"] == ["ada@1", "bob@1"]
    assert answer.headers["link"] == '<?limit=2&page=2>; rel="next"'
    assert client.get("/ladders/poke/matrix.json?limit=2&page=2").json()["bots"] == ["cy@1"]
    assert client.get("/ladders/poke/matrix.json?find=CY+ada").json()["bots"] == ["ada@1", "cy@1"]
    assert client.get("/ladders/poke/matrix.json?limit=61").status_code == 400


def test_two_bots_are_compared_by_their_boards(client: TestClient) -> None:
    page = client.get("/ladders/poke/compare?one=ada&other=bob@1").text
    heading = page.partition("<h1>")[2].partition("</h1>")[0]
    assert re.sub("<[^>]+ hidden.*?</span>|<[^>]+>", "", heading) == "ada against bob"
    assert re.findall('href="([^"]+)"', heading) == ["/bots/ada", "/bots/bob"]
    assert "24: 16 won, 0 drawn, 8 lost" in page
    assert page.count("<rect ") == 5
    document = client.get("/ladders/poke/compare.json?one=ada&other=bob").json()
    assert document["entrants"] == ["ada@1", "bob@1"]
    assert sum(document["pairs"]) == 12
    assert len(document["played"]) == document["matches"] == 4
    assert document["sprt"] is None
    turned = client.get("/ladders/poke/compare.json?one=bob&other=ada").json()
    assert turned["elo"]["value"] == -document["elo"]["value"]


def test_a_comparison_lists_common_matches_in_pages(client: TestClient) -> None:
    address = "/ladders/poke/compare.csv?one=ada&other=cy&limit=3"
    first = list(csv.DictReader(io.StringIO(client.get(address).text)))
    second = list(csv.DictReader(io.StringIO(client.get(f"{address}&page=2").text)))
    assert [len(first), len(second)] == [3, 1]
    assert len({row["match"] for row in first + second}) == 4
    assert {row["score"] for row in first} == {"1.0"}
    assert {(row["bot"], row["opponent"]) for row in first + second} == {("ada@1", "cy@1")}
    assert (
        f'href="/matches/{first[0]["match"]}"'
        in client.get("/ladders/poke/compare?one=ada&other=cy").text
    )


def test_a_comparison_shows_a_requested_sprt(client: TestClient) -> None:
    sprt = client.get("/ladders/poke/compare.json?one=ada&other=bob&sprt=0,25").json()["sprt"]
    assert (sprt["low"], sprt["high"], sprt["verdict"]) == (0, 25, "open")
    page = client.get("/ladders/poke/compare?one=ada&other=bob&sprt=0+25").text
    assert re.search(r"<dt>SPRT</dt><dd>LLR .* for 25 against 0 points, \w+: open</dd>", page)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/ladders/whist/matrix", 404),
        ("/ladders/poke/matrix?los=yes", 400),
        ("/ladders/poke/compare", 400),
        ("/ladders/poke/compare?one=ada&other=ada", 400),
        ("/ladders/poke/compare?one=ada&other=eve", 404),
        ("/ladders/poke/compare?one=ada&other=bob&sprt=much", 400),
        ("/ladders/poke/compare?one=ada&other=bob&sprt=25,0", 400),
        ("/ladders/poke/compare?one=ada&other=bob&sprt=nan,inf", 400),
    ],
)
def test_invalid_requests_are_refused(client: TestClient, address: str, status: int) -> None:
    answer = client.get(address, headers={"Accept": "application/json"})
    assert (answer.status_code, list(answer.json())) == (status, ["error"])


def test_bots_without_common_matches_are_compared_by_strength(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob"], {})
    store_tournament(workspace, ["cy", "dan"], {})
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:
        answer = client.get("/ladders/poke/compare.json?one=ada&other=dan")
        document = answer.json()
        assert (document["entrants"], document["matches"]) == (["ada@1", "dan@1"], 0)
        assert document["common_opponents"] == []
        assert 0 < document["strength_difference"]["superiority"] < 1
        page = client.get("/ladders/poke/compare?one=ada&other=dan").text
        assert "They have not met on this ladder." in page
        assert (
            'title="ada and dan have not played against each other"'
            in client.get("/ladders/poke/matrix").text
        )


def test_a_comparison_has_the_results_against_common_opponents(client: TestClient) -> None:
    document = client.get("/ladders/poke/compare.json?one=ada&other=bob").json()
    (common,) = document["common_opponents"]
    assert common["opponent"] == "cy@1"
    assert [result["score"] for result in common["results"]] == [1.0, 0.5]
    turned = client.get("/ladders/poke/compare.json?one=bob&other=ada").json()
    difference = document["strength_difference"]["value"]
    assert turned["strength_difference"]["value"] == pytest.approx(-difference)
    page = client.get("/ladders/poke/compare?one=ada&other=bob").text
    assert "Common opponents" in page
    assert "50 %" in page


def test_a_ladder_has_one_chart_on_its_axis(client: TestClient, web: WebState) -> None:
    page = client.get("/ladders/poke").text
    chart = page.partition('id="ladder-chart"')[2]
    assert chart.count('<polyline class="course"') == 3
    strengths = [line.strength for line in web.snapshot.ladders["poke"].table.lines]
    assert all(each.margin < 300 for each in strengths)
    values = [each.value + side * each.margin for each in strengths for side in (-1, 1)]
    low, high = rating_curves.axis(web.snapshot.ladders["poke"].table)
    assert low <= min(values) <= max(values) <= high
    assert high - low >= 400


def test_a_ladder_is_filtered_by_state_and_faults(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {})
    versions.retire(workspace.store, "bob@1")
    with TestClient(create(WebState(workspace.store, ServerSettings()))) as client:

        def names(only: str) -> set[str]:
            document = client.get(f"/ladders/poke.json?only={only}").json()
            return {line["entrant"] for line in document["standings"]}

        assert names("active") == {"ada@1", "cy@1"}
        assert names("newest") == names("") == {"ada@1", "bob@1", "cy@1"}
        assert names("faulty") == set()
        assert client.get("/ladders/poke.json?only=luck").status_code == 400


def test_a_ladder_is_sorted_by_a_column_with_unknown_values_last(
    client: TestClient, web: WebState
) -> None:
    lines = web.snapshot.ladders["poke"].table.lines
    by_likelihood = client.get("/ladders/poke.json?sort=los").json()["standings"]
    assert by_likelihood[-1]["superiority_to_next"] is None
    assert by_likelihood[0]["superiority_to_next"] == max(
        line.strength.superiority_to_next or 0 for line in lines
    )


def test_a_ladder_shows_what_seats_are_worth_on_request(client: TestClient, web: WebState) -> None:
    usual = client.get("/ladders/poke")
    assert "seats=1" in usual.text
    assert "seats" not in client.get("/ladders/poke.json").json()
    worths = seat_advantage.of_ladder(web.engine, web.snapshot.ladders["poke"].scope)
    assert len(worths) == 2
    data = client.get("/ladders/poke.json?seats=1").json()["seats"]
    assert data == [to_json(seat_advantage.SEATS, worth) for worth in worths]
    page = client.get("/ladders/poke?seats=1").text
    assert "What seats are worth</h2>" in page
    assert f"{100 * worths[0].score.mean:.1f} %" in page


def test_a_ladder_shows_luck_adjusted_results_on_request(
    client: TestClient, web: WebState, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (control_variates, adjusted_standings):
        monkeypatch.setattr(module, "FEWEST", 2)
    assert "adjusted=1" in client.get("/ladders/poke").text
    claims = {}
    while task := LUCK.claim(web.engine):
        claims[task.key] = task
    for match in results.closed(web.engine):
        # Without any luck, adjusted results equal the raw ones.
        none = np.zeros((3, 2, 2)).tolist()
        games = [[game.game, game.game, [0, 1], none] for game in match.games]
        LUCK.finish(web.engine, claims[match.id], {"method": method_of("poke"), "games": games})
    expected = adjusted_standings.of_ladder(web.engine, web.snapshot.ladders["poke"].scope)
    assert expected.measured == expected.matches > 0
    data = client.get("/ladders/poke.json?adjusted=1").json()["adjusted"]
    assert data == expected.to_json()
    page = client.get("/ladders/poke?adjusted=1").text
    assert "Results without the luck of the cards</h2>" in page
    best = expected.lines[0]
    assert best.result.score.value == pytest.approx(best.result.score.raw)
    assert f"{100 * best.result.score.value:.1f} %" in page


@pytest.mark.parametrize("parameter", ["seats", "adjusted"])
def test_what_requires_all_games_is_refused_for_a_long_ladder(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, parameter: str
) -> None:
    monkeypatch.setattr(ladder, "MAX_MATCHES_READ", 11)
    assert f"{parameter}=1" not in client.get("/ladders/poke").text
    refused = client.get(f"/ladders/poke?{parameter}=1")
    assert refused.status_code == 400
    assert f"standings poke --{parameter}" in refused.text


def test_pages_of_a_large_ladder_have_the_same_results(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of meetings is stored as arrays, and strengths are fitted from pairs."""

    def documents() -> tuple[Any, ...]:
        web = WebState(workspace.store, ServerSettings())
        asyncio.run(web.read_store())
        client = TestClient(create(web))
        pages = ("poke.json", "poke/matrix.json", "poke/compare.json?one=ada&other=bob")
        return tuple(client.get(f"/ladders/{page}").json() for page in pages)

    usual = documents()
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 0)
    monkeypatch.setattr(meetings, "LINE_UPS", 1)
    large = documents()
    for ours, theirs in zip(large[0]["standings"], usual[0]["standings"], strict=True):
        assert ours["entrant"] == theirs["entrant"]
        assert ours["strength"] == pytest.approx(theirs["strength"], abs=1e-6)
        assert ours["error"] == pytest.approx(theirs["error"], rel=0.1)
    for row, expected in zip(large[1]["cells"], usual[1]["cells"], strict=True):
        for cell, other in zip(row, expected, strict=True):
            assert (cell is None) == (other is None)
            if cell is not None:
                # The sampling errors are large for so few bots.
                assert cell["superiority"] == pytest.approx(other["superiority"], abs=0.05)
                assert {**cell, "superiority": 0} == {**other, "superiority": 0}
    assert large[2]["common_opponents"] == usual[2]["common_opponents"]

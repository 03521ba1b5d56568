"""Each rendering of ladders, standings and crosstables shows the listed columns and values."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.cli.ladders import ladder_table
from arena.cli.workspace import Workspace
from arena.formats.contract import FormatEntrant
from arena.formats.swiss import RankingKey
from arena.ladders import ladder_key
from arena.ladders.columns import (
    Column,
    Columns,
    Rendering,
    columns_of,
    csv_table,
    text_table,
    to_json,
)
from arena.ladders.ladder_columns import (
    CELL,
    LADDER,
    TOURNAMENT,
    EntrantLine,
    LadderLine,
    cell_text,
)
from arena.ladders.seat_advantage import SEATS, MeanWithInterval, SeatAdvantage
from arena.ratings.call_figures import CallFigures
from arena.ratings.control_variates import AdjustedMean
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.points import Points
from arena.ratings.standings import StandingsLine
from arena.ratings.strength.fit import Strength, StrengthBound
from arena.records.bundle import bundle
from arena.records.luck_adjustment.adjusted_standings import ADJUSTED, AdjustedLine
from arena.records.luck_adjustment.board_results import AdjustedResult
from arena.store.bots.versions import Version
from arena.store.tournaments import tournaments
from arena.web.app import create
from arena.web.charts import Sparkline
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import ServerLinks
from arena.web.pages import matrix
from arena.web.serving import html_pages
from arena.web.serving.page_kinds import KINDS
from tests.arena.cli.stored_tournament import StoreTournament
from tests.arena.cli.terminal import Cli

STRONG = Strength(
    *("ada@2", 1, 3, 1500.25, 1400.0, 1600.5, 51.0, 40, 4, True, False, 5),
    superiority_to_next=0.875,
)
POINTS = Points("ada@2", 39, 6, 1.5, 0.5, 0.25, 2.75)
FAULTS = {"timeout": 2, "crash": 1}
ADA = StandingsLine(
    "ada@2", STRONG, 1234.5, 40, 80, 41, 7, 32, 90, POINTS, 0.5625, FAULTS, 9, 12, 3
)
WEAK = Strength(
    *("bob@1", 3, 3, 900.0, 800.0, 1000.0, 50.0, 0, 0, False, True, 0),
    bound=StrengthBound("below", 950.0, 0.95),
)
BOB = StandingsLine("bob@1", WEAK, 0, 0, 0, 0, 0, 0, 0, None, None, {}, 0)
MANIFEST = {"authors": ["Ada"], "language": "python"}
VERSION = Version("ada@2", "ada", "2", "hash", "", MANIFEST, 0.0, None, None, None, "owner")
TIMES = DecisionHistogram.of([3.0] * 9 + [40.0])
USAGE = CallFigures(80_000, 8_000, 4.0)
LINES = (
    LadderLine(1, ADA, TIMES, VERSION, 0.0, Sparkline("1,2", 1, 2, "up"), 8, USAGE),
    LadderLine(2, BOB),
)
ENTRANTS = (
    EntrantLine(
        "1–2", ADA, FormatEntrant("ada@2", "Eve", withdrawn=3), RankingKey(6, 13, 2.5), points=6
    ),
    EntrantLine("3", BOB, FormatEntrant("bob@1"), RankingKey(4, 15, 1.5), points=4),
)
MEETING = CrosstableCell(matches=20, score=0.75, low=0.5, high=0.875)
MEAN = MeanWithInterval(0.5, 0.25, 0.75)
SEAT = SeatAdvantage((0, 2), 7, MEAN, MeanWithInterval(5.0, -1.0, 11.0), MeanWithInterval(1, 0, 2))
UNLUCKY = AdjustedLine(
    "ada@2",
    AdjustedResult(
        40, AdjustedMean(0.4, 0.5, 0.1, 0.3, 0.7, 1.5), AdjustedMean(-1.0, 2.0, 1.0, 0.5, 3.5, 1.5)
    ),
)
RECORDED = Path(__file__).with_name("renderings.txt")


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with "|" between the cells."""
    return "\n".join("|".join(str(cell).strip() for cell in row) for row in (heads, *rows))


def html_of(name: str, **model: Any) -> str:
    """Return the cells of a rendered fragment, as `table` does."""
    template = html_pages.environment().get_template(f"fragments/{name}.html")
    html = template.render(links=ServerLinks(), form="poke", **model)
    rows = re.findall("<tr.*?</tr>", html, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    texts = [[" ".join(re.sub("<[^>]*>", "", cell).split()) for cell in row] for row in cells]
    return table(texts[0], texts[1:])


def renderings() -> Iterator[tuple[str, str]]:
    """Yield every rendering of the lines with its name."""
    lists: tuple[tuple[str, Columns[Any], Sequence[Any], tuple[str, ...]], ...] = (
        ("ladder", LADDER, LINES, ("TEXT", "TERMINAL", "LOS", "BOT", "TOP")),
        ("tournament", TOURNAMENT, ENTRANTS, ("TOURNAMENT", "TOURNAMENT_ALL", "PODIUM")),
        ("crosstable", CELL, (MEETING,), ()),
        ("list of seats", SEATS, (SEAT,), ("TERMINAL",)),
        ("list of adjusted results", ADJUSTED, (UNLUCKY,), ("TERMINAL",)),
    )
    for name, columns, lines, kinds in lists:
        yield f"CSV of a {name}", table(*csv_table(columns, lines))
        yield f"JSON of a {name}", "\n".join(json.dumps(to_json(columns, each)) for each in lines)
        for kind in kinds:
            shown = columns_of(columns, Rendering[kind], lines)
            yield f"{kind} of a {name}", table(*text_table(shown, lines))
    yield "JSON of commands", json.dumps(to_json(LADDER, LINES[0], Rendering.RESULTS))
    yield "text of a cell", cell_text(MEETING)
    box = matrix.score_cell("ada@2", "bob@1", MEETING)
    yield "HTML of a cell", f"{box.text}|{box.title}|{box.heat}"
    model: dict[str, Any] = dict.fromkeys(("sort", "find", "only", "chosen_columns"), "")
    model |= {"piece": type("Piece", (), {"total": 2}), "every": 2, "season": None, "lines": LINES}
    for name, rendering in (("ladder", Rendering.PAGE), ("complete ladder", Rendering.PAGE_ALL)):
        columns = columns_of(LADDER, rendering, LINES)
        yield f"HTML of a {name}", html_of("ladder-rows", columns=columns, **model)
    model = {"format_state": {"stages": (), "points": {}}, "remarks": (), "champions": None}
    model |= {"crossed": [("ada@2", [box])], "has_ladder_page": False, "is_complete": False}
    plan = type("Plan", (), {"format": "gauntlet"})
    model |= {"tournament": type("Tournament", (), {"id": "t-1", "plan": plan}), "challengers": ()}
    model |= {"closed": True}
    columns = columns_of(TOURNAMENT, Rendering.TOURNAMENT, ENTRANTS)
    html = html_of("tournament-standings", columns=columns, lines=ENTRANTS, **model)
    yield "HTML of a tournament", html
    gap = {"value": 1.0, "margin": 1.0, "likely": 0.5}
    model = {"one": "ada@2", "other": "bob@1", "gap": gap, "common": ()}
    columns = columns_of(LADDER, Rendering.BOT)
    yield "HTML of versions", html_of("compare-sides", columns=columns, sides=LINES, **model)


def test_every_rendering_has_every_column_and_value_in_order() -> None:
    """Write the new text into the file if a change is meant."""
    text = "\n".join(f"== {name}\n{rendering}" for name, rendering in renderings()) + "\n"
    # The age of a match grows.
    assert re.sub(r"\b\d+ d\b", "N d", text) == RECORDED.read_text(encoding="utf-8")


def test_columns_without_values_are_omitted() -> None:
    shown = columns_of(LADDER, Rendering.TERMINAL, LINES[1:])
    assert [column.title for column in shown] == "# bot strength Elo matches W–D–L".split()


@pytest.fixture
def more_columns() -> Iterator[None]:
    """Append a column to each list."""
    everywhere = ~Rendering(0)
    entry: Column[object]
    entry = Column("zebra", "zebras", lambda line: "striped", "with hooves", shown=everywhere)
    for listed in (LADDER, TOURNAMENT, CELL):
        listed.append(entry)
    yield
    for listed in (LADDER, TOURNAMENT, CELL):
        listed.pop()


@pytest.fixture
def tournament(cwd: Path, stored_tournament: StoreTournament) -> str:
    return stored_tournament(("ada", "bob", "cy"), {}, 1)


@pytest.mark.usefixtures("more_columns")
def test_a_column_of_all_pages_is_one_entry(tournament: str) -> None:
    with TestClient(create(WebState(Workspace().store, ServerSettings()))) as client:
        kinds = [kind for kind in KINDS if kind != "atom"]
        for address in ("/ladders/poke", f"/tournaments/{tournament}"):
            texts = [client.get(f"{address}.{kind}").text for kind in kinds]
            assert all("striped" in text and "zebra" in text for text in texts), address
        others = ["/", "/bots/ada", "/bots/ada.txt", "/ladders/poke/compare?one=ada&other=cy"]
        others += [f"/ladders/poke/matrix.{kind}" for kind in ("html", "json", "csv")]
        assert [address for address in others if "striped" not in client.get(address).text] == []
        described = client.get("/openapi.json").json()["paths"]
    for path in ("/ladders/{form}", "/tournaments/{id}", "/ladders/{form}/matrix"):
        assert "with hooves" in json.dumps(described[path]), path


@pytest.mark.parametrize("path", ["/ladders/poke.png", "/tournaments/{}.png"])
def test_a_column_of_pictures_is_one_entry(
    tournament: str, path: str, request: pytest.FixtureRequest
) -> None:
    web = WebState(Workspace().store, ServerSettings())

    def picture() -> bytes:
        with TestClient(create(web)) as client:
            return client.get(path.format(tournament)).content

    before = picture()
    request.getfixturevalue("more_columns")
    assert picture() != before


@pytest.mark.usefixtures("more_columns")
def test_a_column_of_all_commands_is_one_entry(cli: Cli, tournament: str) -> None:
    assert "zebras" in cli("standings").out
    assert "zebras: with hooves" in cli("standings").err
    for words in (
        ("matrix",),
        ("standings", "--json"),
        ("matrix", "--json"),
        ("export", "poke"),
        ("export", "poke", "--format", "json"),
        ("bot", "show", "ada@1"),
        ("tournament", "show", tournament),
        ("tournament", "show", tournament, "--json"),
    ):
        assert "striped" in cli(*words).out, words


@pytest.mark.usefixtures("more_columns")
def test_a_column_does_not_change_the_format_of_bundles(tournament: str) -> None:
    stored = tournaments.find_tournament(Workspace().store, tournament)
    table = ladder_table.of_tournament(Workspace().store, ladder_key.of_tournament(stored))
    first, *_ = bundle.conclude(stored.plan, table, None)["standings"]
    assert set(first) == {
        *("entrant", "ranks", "strength", "interval", "error", "matches", "opponents"),
        *("provisional", "anchored", "group", "elo", "games", "wins", "draws", "losses"),
        *("points", "points_per_board", "mean", "faults", "forfeits"),
    }

"""Each rendering of ladders, standings and crosstables shows the listed columns and values."""

import json
import re
import time
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
from arena.presentation import wording
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.points import Points
from arena.ratings.standings import StandingsLine
from arena.ratings.strength.fit import Strength, StrengthBound
from arena.records.bundle import bundle
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
ADA = StandingsLine("ada@2", STRONG, 1234.5, 40, 80, 41, 7, 32, 90, POINTS, 0.5625, FAULTS, 9)
WEAK = Strength(
    *("bob@1", 3, 3, 900.0, 800.0, 1000.0, 50.0, 0, 0, False, True, 0),
    bound=StrengthBound("below", 950.0, 0.95),
)
BOB = StandingsLine("bob@1", WEAK, 0, 0, 0, 0, 0, 0, 0, None, None, {}, 0)
MANIFEST = {"authors": ["Ada"], "language": "python"}
VERSION = Version("ada@2", "ada", "2", "hash", "", MANIFEST, 0.0, None, None, None, "owner")
TIMES = DecisionHistogram.of([3.0] * 9 + [40.0])
LINES = (
    LadderLine(1, ADA, TIMES, VERSION, 0.0, Sparkline("1,2", 1, 2, "up"), 8),
    LadderLine(2, BOB),
)
ENTRANTS = (
    EntrantLine("1–2", ADA, FormatEntrant("ada@2", "Eve", withdrawn=3), RankingKey(6, 13, 2.5)),
    EntrantLine("3", BOB, FormatEntrant("bob@1"), RankingKey(4, 15, 1.5)),
)
SEEN = wording.ago(time.time())
MEETING = CrosstableCell(matches=20, score=0.75, low=0.5, high=0.875)
RATINGS = """
strength=1500.25 low=1400.0 high=1600.5 error=51.0 bound_side=None bound=None
superiority_to_next=0.875 provisional=1 anchored=0 group=5 elo=1234.5 matches=40 opponents=4
mean=0.5625 games=80 wins=41 draws=7 losses=32 points=90 points_per_board=1.5
points_per_board_low=0.25 points_per_board_high=2.75 init=0 timeout=2 illegal=0 protocol=0 crash=1
resources=0 forfeit=9
"""
RATINGS_JSON = json.loads("""{
"ranks": [1, 3], "entrant": "ada@2", "strength": 1500.25, "interval": [1400.0, 1600.5],
"error": 51.0, "bound": null, "superiority_to_next": 0.875, "provisional": true, "anchored": false,
"group": 5, "elo": 1234.5, "matches": 40, "opponents": 4, "mean": 0.5625, "games": 80, "wins": 41,
"draws": 7, "losses": 32, "points": 90, "points_per_board": {"matches": 39, "clipped": 6,
"mean": 1.5, "error": 0.5, "interval": [0.25, 2.75]}, "faults": {"timeout": 2, "crash": 1},
"forfeits": 9}""")
TIMES_JSON = {"p95_ms": TIMES.p95, "last_seen": "1970-01-01T00:00:00Z"}


def csv_of(columns: Columns[Any], lines: Sequence[Any], number: int = 0) -> str:
    """Return the headings and values of a line as "rank_first=1 rank_last=3 ..."."""
    heads, rows = csv_table(columns, lines)
    return " ".join(f"{head}={value}" for head, value in zip(heads, rows[number], strict=True))


def test_csv_has_every_value_under_its_heading() -> None:
    ranks, ratings = "rank_first=1 rank_last=3", " ".join(RATINGS.split())
    assert csv_of(LADDER, LINES) == (
        f"{ranks} places_gained_24h=8 bot=ada@2 authors=Ada language=python {ratings} "
        f"p95_ms={TIMES.p95} last_seen=1970-01-01T00:00:00Z"
    )
    assert csv_of(TOURNAMENT, ENTRANTS) == (
        f"rank=1–2 bot=ada@2 owner=Eve swiss_points=6 swiss_met=13 {ranks} {ratings} withdrawn=1"
    )
    assert csv_of(CELL, [MEETING]) == "score=0.75 low=0.5 high=0.875 matches=20"
    bob = csv_of(LADDER, LINES, 1)
    assert "bound_side=below bound=950.0 superiority_to_next=None provisional=0 anchored=1" in bob
    assert "points_per_board_low=None points_per_board_high=None" in bob


def test_json_has_every_value_under_its_key() -> None:
    assert to_json(LADDER, LINES[0], Rendering.RESULTS) == RATINGS_JSON
    site = {"places_gained_24h": 8, "authors": "Ada", "language": "python"}
    assert to_json(LADDER, LINES[0]) == {**RATINGS_JSON, **site, **TIMES_JSON}
    swiss = {"points": 6, "met": 13, "scores": 2.5}
    entry = {"rank": "1–2", "owner": "Eve", "swiss": swiss, "withdrawn": True}
    assert to_json(TOURNAMENT, ENTRANTS[0]) == {**RATINGS_JSON, **entry}
    assert to_json(CELL, MEETING) == {"score": 0.75, "interval": [0.5, 0.875], "matches": 20}
    bound = {"side": "below", "value": 950.0, "confidence": 0.95}
    assert to_json(LADDER, LINES[1])["bound"] == bound


def text_of(columns: Columns[Any], rendering: Rendering, lines: Sequence[Any]) -> list[str]:
    """Return the headings and lines of a table, with "|" between the columns."""
    heads, rows = text_table(columns_of(columns, rendering, lines), lines)
    return ["|".join(map(str.strip, row)) for row in (heads, *rows)]


@pytest.mark.parametrize(
    ("rendering", "expected"),
    [
        (
            Rendering.TERMINAL,
            [
                "#|<bot|strength|Elo|matches|W–D–L|points/board|<faults|p95 ms",
                "1–3|ada@2|1500 ±100?|1234|40|41–7–32|+1.5 ±1.2|2 timeout, 1 crash, 9 forfeit|41.5",
                "3|bob@1|900 set|0|0|0–0–0|–|–|–",
            ],
        ),
        (
            Rendering.TEXT,
            [
                "#|24 h|<bot|<by|<language|strength|LOS|Elo|matches|W–D–L|points/board|<faults"
                "|p95 ms|seen",
                "1–3|▲8|ada@2|Ada|python|1500 ±100?|87.5 %|1234|40|41–7–32|+1.5 ±1.2"
                f"|2 timeout, 1 crash, 9 forfeit|41.5|{SEEN}",
                "3|–|bob@1|–|–|900 set|–|0|0|0–0–0|–|–|–|–",
            ],
        ),
        (Rendering.TOP, ["#|<bot|strength", "1–3|ada@2|1500 ±100?", "3|bob@1|900 set"]),
    ],
)
def test_text_of_a_ladder_has_every_column_in_order(
    rendering: Rendering, expected: list[str]
) -> None:
    assert text_of(LADDER, rendering, LINES) == expected


def test_columns_without_values_are_omitted() -> None:
    assert text_of(LADDER, Rendering.TERMINAL, LINES[1:])[0] == "#|<bot|strength|Elo|matches|W–D–L"


def test_text_of_a_tournament_has_every_column_in_order() -> None:
    assert text_of(TOURNAMENT, Rendering.TOURNAMENT, ENTRANTS) == [
        "#|<bot|<of|points|met|strength|matches|W–D–L|points/board|<faults",
        "1–2|ada@2|Eve|6|13|1500 ±100?|40|41–7–32|+1.5 ±1.2|2 timeout, 1 crash, 9 forfeit",
        "3|bob@1|–|4|15|900 set|0|0–0–0|–|–",
    ]
    assert text_of(TOURNAMENT, Rendering.PODIUM, ENTRANTS)[1] == "1–2|ada@2|56.2 %"


def html_of(name: str, **model: Any) -> list[str]:
    """Return the rows of a rendered fragment, with "|" between the cells."""
    template = html_pages.environment().get_template(f"fragments/{name}.html")
    rows = re.findall(
        "<tr.*?</tr>", template.render(links=ServerLinks(), form="poke", **model), re.DOTALL
    )
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return ["|".join(" ".join(re.sub("<[^>]*>", "", c).split()) for c in row) for row in cells]


def test_the_page_of_a_ladder_has_every_column_in_order() -> None:
    columns = columns_of(LADDER, Rendering.PAGE, LINES)
    model = {"piece": type("Piece", (), {"total": 2}), "every": 2, "season": None}
    query = dict.fromkeys(("sort", "find", "only"), "")
    assert html_of("ladder-rows", columns=columns, lines=LINES, **model, **query) == [
        "#|24 h|bot|by|language|strength|LOS|history|Elo|matches|W–D–L|points/board|faults|p95 ms"
        "|seen",
        "1 1–3|▲8|ada@2|Ada|python|1500 ±100?|87.5 %||1234|40|41–7–32|+1.5 ±1.2"
        f"|2 timeout 1 crash 9 forfeit|41.5|{SEEN}",
        "2 3||bob@1|–|–|–|–||0|0|0–0–0|–|–|–|–",
    ]


def test_the_page_of_a_tournament_has_every_column_in_order() -> None:
    columns = columns_of(TOURNAMENT, Rendering.TOURNAMENT, ENTRANTS)
    crossed = [("ada@2", [matrix.score_cell("ada@2", "bob@1", MEETING)])]
    model = {"format_state": {"stages": ()}, "remarks": (), "crossed": crossed}
    assert html_of("tournament-standings", columns=columns, lines=ENTRANTS, **model) == [
        "#|bot|of|points|met|strength|matches|W–D–L|points/board|faults",
        "1–2|ada@2 withdrawn|Eve|6|13|1500 ±100?|40|41–7–32|+1.5 ±1.2|2 timeout 1 crash 9 forfeit",
        "3|bob@1|–|4|15|–|0|0–0–0|–|–",
        "|1",
        "1 ada@2|7520",
    ]


def test_the_comparison_has_every_column_in_order() -> None:
    gap = {"value": 1.0, "margin": 1.0, "likely": 0.5}
    model = {"one": "ada@2", "other": "bob@1", "gap": gap, "common": ()}
    columns = columns_of(LADDER, Rendering.BOT)
    assert html_of("compare-sides", columns=columns, sides=LINES, **model)[:2] == [
        "#|bot|strength|Elo|matches|score|W–D–L|points/board|faults|p95 ms|seen",
        "1 1–3|ada@2|1500 ±100?|1234|40|56.2 %|41–7–32|+1.5 ±1.2|2 timeout 1 crash 9 forfeit"
        f"|41.5|{SEEN}",
    ]


def test_a_cell_of_a_crosstable_has_every_column_in_order() -> None:
    assert cell_text(MEETING) == "75 50–88 (20)"
    box = matrix.score_cell("ada@2", "bob@1", MEETING)
    shown = "ada@2 against bob@1: score in % 75, 95 % interval 50–88, matches 20"
    assert (box.text, box.title, box.heat) == ("75", shown, "up shade1")


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
    stored = tournaments.find(Workspace().store, tournament)
    table = ladder_table.of_tournament(Workspace().store, ladder_key.of_tournament(stored))
    first, *_ = bundle.conclude(stored.plan, table, None)["standings"]
    assert set(first) == set(RATINGS_JSON) - {"bound", "superiority_to_next"}

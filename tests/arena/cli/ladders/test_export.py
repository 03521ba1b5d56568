"""`pokearena export`: equal content in every format, and escaped names of bots."""

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from arena.presentation.csv_text import BYTE_ORDER_MARK
from tests.arena.cli.stored_tournament import StoreTournament, store_tournament
from tests.arena.cli.terminal import Cli
from tests.full_disk import full_disk_beside

VOID = ("meta", "br", "link", "img", "input", "hr")


class HtmlPage(HTMLParser):
    """Parse an HTML page into tags and text; AssertionError if tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


@pytest.fixture
def tournament(cwd: Path, stored_tournament: StoreTournament) -> str:
    """Store a tournament of twenty rounds, with a bot whose name contains markup."""
    return stored_tournament(("ace", "<script>", 'c"a,t'), {}, 20)


def test_csv_has_a_line_for_each_bot_with_all_columns(cli: Cli, tournament: str) -> None:
    result = cli("export", "poke")
    assert result.status == 0
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["bot"] for row in rows] == ["ace@1", "<script>@1", 'c"a,t@1']
    ladder_rows = json.loads(cli("standings", "--json").out)["ladders"]["poke"]
    for row, line in zip(rows, ladder_rows, strict=True):
        assert float(row["strength"]) == line["strength"]
        assert [int(row["rank first"]), int(row["rank last"])] == line["ranks"]
        assert float(row["elo"]) == line["elo"]
        assert int(row["matches"]) == line["matches"]
        assert int(row["timeout"]) == 0
        assert float(row["p95 ms"]) > 0
    first = rows[0]
    assert (first["score against <script>@1"], first["matches against <script>@1"]) == ("1.0", "20")
    assert first["score against ace@1"] == ""


def test_json_has_the_standings_and_the_matrix(cli: Cli, tournament: str) -> None:
    (ladder,) = json.loads(cli("export", "--format", "json", "--tournament", tournament).out)[
        "ladders"
    ]
    assert (ladder["form"], ladder["tournaments"]) == ("poke", [tournament])
    standings = json.loads(cli("standings", "--json").out)
    assert ladder["standings"] == standings["ladders"]["poke"]
    matrix = json.loads(cli("matrix", "--json").out)["matrices"]["poke"]
    assert ladder["matrix"] == matrix
    assert ladder["timing"]["thinking"]["ace@1"]["decisions"] == 80


def test_the_page_is_one_file_that_loads_and_runs_nothing(
    cli: Cli, tournament: str, cwd: Path
) -> None:
    result = cli("export", "--output", "cup.html")
    assert (result.status, result.out) == (0, "")
    assert "cup.html: poke, 3 lines" in result.err
    text = (cwd / "cup.html").read_text(encoding="utf-8")
    page = HtmlPage(text)
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert not {name for name in page.names if name.startswith("on")} | page.names & {"src", "href"}
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text


def test_html_in_bot_names_is_escaped(cli: Cli, tournament: str) -> None:
    page = HtmlPage(cli("export", "--format", "html").out)
    # The name is in the standings, and in a row and a column of the crosstable.
    assert page.cells.count("<script>@1") == 3
    assert "100% 84–100% (20)" in page.cells


def test_stdout_and_output_file_have_equal_content(cli: Cli, tournament: str, cwd: Path) -> None:
    for kind in ("csv", "json", "html"):
        cli("export", "--output", f"cup.{kind}")
        written = (cwd / f"cup.{kind}").read_text(encoding="utf-8")
        if kind == "csv":
            assert written.startswith(BYTE_ORDER_MARK)
            written = written.removeprefix(BYTE_ORDER_MARK)
        assert written == cli("export", "--format", kind).out


def test_csv_requires_one_ladder_and_other_formats_take_several(cli: Cli, tournament: str) -> None:
    store_tournament(Workspace(), ("ace", "bee", "cow"), {}, game="saint_poker", seats=3)
    result = cli("export")
    assert (result.status, result.out) == (2, "")
    assert result.code == "several-ladders"
    assert len(json.loads(cli("export", "--format", "json").out)["ladders"]) == 2
    assert cli("export", "--format", "html").out.count("<h1>") == 2


def test_an_output_file_in_a_missing_folder_is_an_error(cli: Cli, tournament: str) -> None:
    result = cli("export", "--output", "nowhere/cup.csv")
    assert result.status == 1
    assert isinstance(result.error, FileNotFoundError)
    assert result.error.filename == "nowhere/cup.csv"


@pytest.mark.parametrize("kind", ["csv", "json", "html"])
def test_a_full_disk_leaves_the_earlier_file(
    cli: Cli, tournament: str, cwd: Path, kind: str
) -> None:
    file = cwd / f"cup.{kind}"
    file.write_text("precious")
    before = sorted(cwd.iterdir())
    with full_disk_beside(cwd / ".pokearena" / "arena.db"):
        result = cli("export", "--output", file.name)
    assert result.status == 1
    assert isinstance(result.error, OSError)
    assert result.error.filename == file.name
    assert file.read_text() == "precious"
    assert sorted(cwd.iterdir()) == before


def test_an_unknown_file_extension_is_refused(cli: Cli, tournament: str, cwd: Path) -> None:
    result = cli("export", "--output", "cup.pdf")
    assert (result.status, result.code) == (2, "unknown-extension")
    assert not (cwd / "cup.pdf").exists()
    assert cli("export", "--output", "cup.pdf", "--format", "csv").status == 0


def test_an_export_without_matches_is_refused(cli: Cli, cwd: Path) -> None:
    assert Workspace().store is not None
    result = cli("export")
    assert (result.status, result.out) == (1, "")
    assert result.code == "no-closed-match"

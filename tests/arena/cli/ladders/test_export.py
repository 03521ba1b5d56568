"""`pokearena export`: equal content in every format."""

import csv
import io
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.presentation.csv_text import BYTE_ORDER_MARK
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import StoreTournament, store_tournament
from tests.arena.cli.terminal import Cli


@pytest.fixture
def tournament(cwd: Path, stored_tournament: StoreTournament) -> str:
    """Store a tournament of five cycles, with a bot whose name contains markup."""
    return stored_tournament(("ace", "<script>", 'c"a,t'), {}, 5)


def test_csv_is_that_of_the_ladder_page(cli: Cli, tournament: str) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("export", "poke").out)))
    assert [row["bot"] for row in rows] == ["ace@1", "<script>@1", 'c"a,t@1']
    with TestClient(create(WebState(Workspace().store, ServerSettings()))) as client:
        page = list(csv.DictReader(io.StringIO(client.get("/ladders/poke.csv").text)))
    unknown_here = dict.fromkeys(("places_gained_24h", "authors", "language", "last_seen"), "")
    assert list(rows[0]) == list(page[0])
    assert rows == [line | unknown_here for line in page]


def test_json_has_the_standings_and_the_matrix(cli: Cli, tournament: str) -> None:
    (ladder,) = cli("export", "--format", "json", "--tournament", tournament).json["ladders"]
    assert (ladder["form"], ladder["tournaments"]) == ("poke", [tournament])
    standings = cli("standings", "--json").json
    assert ladder["standings"] == standings["ladders"]["poke"]
    matrix = cli("matrix", "--json").json["matrices"]["poke"]
    assert ladder["matrix"] == matrix
    assert ladder["timing"]["thinking"]["ace@1"]["decisions"] == 20


def test_stdout_and_output_file_have_equal_content(cli: Cli, tournament: str, cwd: Path) -> None:
    for kind in ("csv", "json"):
        cli("export", "--output", f"cup.{kind}")
        written = (cwd / f"cup.{kind}").read_text(encoding="utf-8")
        if kind == "csv":
            assert written.startswith(BYTE_ORDER_MARK)
            written = written.removeprefix(BYTE_ORDER_MARK)
        assert written == cli("export", "--format", kind).out


def test_csv_requires_one_ladder_and_json_takes_several(cli: Cli, tournament: str) -> None:
    store_tournament(Workspace(), ("ace", "bee", "cow"), {}, game="saint_poker", seats=3)
    result = cli("export")
    assert (result.status, result.out) == (2, "")
    assert result.code == "several-ladders"
    assert len(cli("export", "--format", "json").json["ladders"]) == 2


def test_an_output_file_in_a_missing_folder_is_an_error(cli: Cli, tournament: str) -> None:
    result = cli("export", "--output", "nowhere/cup.csv")
    assert result.status == 1
    assert isinstance(result.error, FileNotFoundError)
    assert result.error.filename == "nowhere/cup.csv"


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

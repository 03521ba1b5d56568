"""`pokearena export --parquet`: every decision of the records once."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from arena.cli.errors import USAGE
from arena.cli.workspace import Workspace
from arena.records import dataset
from arena.store.bots import versions
from arena.store.matches import listing, results
from arena.store.tournaments.tournaments import Tournament
from referee import replay
from referee.record import MatchRecord, read
from tests.arena.cli.terminal import Cli
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.closed_matches import play, table

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "data.md"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Tournament]]:
    """Return a data folder with a finished tournament of Poke and one of Saint Poker."""
    folder = tmp_path_factory.mktemp("played")
    simulated_arena = SimulatedArena(folder)
    bots = simulated_arena.bots(3)
    games = ("poke", "saint_poker")
    made = [
        simulated_arena.play_out(simulated_arena.begin("round-robin", bots, game=game))
        for game in games
    ]
    simulated_arena.engine.dispose()
    return folder, made


@pytest.fixture
def tournaments(cwd: Path, played: tuple[Path, list[Tournament]]) -> list[Tournament]:
    """Copy the two tournaments into the data folder of the test."""
    folder, made = played
    shutil.copytree(folder, cwd / ".pokearena")
    return made


def records(tournament: Tournament) -> list[MatchRecord]:
    """Return its records in canonical order."""
    store = Workspace().store
    matches = listing.matches(store, tournament=tournament.id)
    return [read(results.record(store, match.id)) for match in matches]


def test_a_form_without_matches_is_not_an_unknown_game(
    cli: Cli, tournaments: list[Tournament]
) -> None:
    result = cli("export", "--games", "poke,pouku-3", "--parquet", "some.parquet")
    assert result.status == USAGE
    assert result.code == "not-played"
    assert result.last == "next  pokearena tournament list"


def test_every_decision_of_the_records_is_a_row(
    cli: Cli, tournaments: list[Tournament], cwd: Path
) -> None:
    result = cli("export", "--parquet", "all.parquet")
    assert (result.status, result.out) == (0, "")
    lines = pq.read_table(cwd / "all.parquet").to_pylist()
    expected = [
        (record, game, line)
        for begun_tournament in tournaments
        for record in records(begun_tournament)
        for game in record.games
        for line in game.actions
    ]
    assert f"all.parquet: {len(expected)} decisions of 6 matches" in result.err
    for line, (record, game, action) in zip(lines, expected, strict=True):
        seat = action["seat"]
        assert record.seed is not None
        assert line["tournament"] == record.match["tournament"]
        assert (line["match"], line["game"]) == (record.match["match"], record.match["game"])
        assert json.loads(line["options"]) == record.match["options"]
        assert line["seed"] == record.seed.hex()
        assert (line["number"], line["board"]) == (game.number, game.game["board"])
        assert (line["decision"], line["seat"]) == (action["decision"], seat)
        assert line["seating"] == game.game["seating"]
        assert line["bot"] == line["seating"][seat]
        assert [line["bot"], line["hash"]] in record.match["entrants"]
        assert json.loads(line["action"]) == action["action"]
        assert (line["ms"], line["by_referee"]) == (action["ms"], action.get("by") == "referee")
        assert (line["corrections"], line["default"]) == (
            action.get("corrections", 0),
            action.get("default", False),
        )
        assert line["place"] == game.result["places"][seat]
        assert line["verdict"] == game.result["verdicts"][seat]
        assert line["score"] == (game.result["scores"] or {seat: None})[seat]
        assert line["view"] is None


def test_reasoning_is_exported_if_it_is_published_or_requested(cli: Cli, cwd: Path) -> None:
    workspace = Workspace()
    match = play(workspace, table("poke-2-must_beat=true"), reasoning="plan of").match
    for owner, label in (("ada", "luck0@1"), ("bob", "luck1@1")):
        versions.set_owner(workspace.store, versions.find_version(workspace.store, label), owner)
    change = ("owner", "reasoning", "ada", "--reason", "she asked for it")
    assert cli(*change, "published", "--json").json["lines"] == 2

    def exported(*options: str) -> dict[str | None, str]:
        assert cli("export", "--parquet", "all.parquet", *options).status == 0
        lines = pq.read_table(cwd / "all.parquet").to_pylist()
        assert {line["match"] for line in lines} == {match}
        return {line["reasoning"]: line["usage"] for line in lines if line["reasoning"]}

    usage = {"source": "reported", "model": "small-1", "tokens_in": 900, "tokens_out": 80}
    assert {text: json.loads(value) for text, value in exported().items()} == {
        "plan of luck0@1": usage | {"cost": 0.01}
    }
    assert set(exported("--reasoning")) == {"plan of luck0@1", "plan of luck1@1"}
    assert cli(*change, "deleted").status == 0
    assert set(exported("--reasoning")) == {"plan of luck1@1"}
    assert cli("verify", match).status == 0
    workspace.store.dispose()


def test_views_are_those_of_the_deciding_seat(
    cli: Cli, tournaments: list[Tournament], cwd: Path
) -> None:
    assert cli("export", "saint_poker", "--views", "--parquet", "saint.parquet").status == 0
    lines = iter(pq.read_table(cwd / "saint.parquet").to_pylist())
    for record in records(tournaments[1]):
        assert record.seed is not None
        for game in record.games:
            for step in replay.steps(record.match, game, record.seed):
                for action in step.lines:
                    seen = replay.view_of_json(json.loads(next(lines)["view"]))
                    assert seen == step.state.view(action["seat"])
    assert next(lines, None) is None


def test_only_selected_games_are_exported(
    cli: Cli, tournaments: list[Tournament], cwd: Path
) -> None:
    assert cli("export", "--games", "saint_poker-2, poke", "--parquet", "2.parquet").status == 0
    assert set(pq.read_table(cwd / "2.parquet")["game"].to_pylist()) == {"saint_poker", "poke"}
    assert cli("export", "--games", "poke", "--parquet", "1.parquet").status == 0
    assert set(pq.read_table(cwd / "1.parquet")["form"].to_pylist()) == {"poke"}
    words = ("export", "--tournament", tournaments[1].id, "--parquet", "one.parquet")
    assert cli(*words).status == 0
    assert set(pq.read_table(cwd / "one.parquet")["tournament"].to_pylist()) == {tournaments[1].id}


def test_the_file_is_written_in_row_groups(
    cli: Cli, tournaments: list[Tournament], cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "ROWS", 50)
    cli("export", "--parquet", "all.parquet")
    metadata = pq.read_metadata(cwd / "all.parquet")
    sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert set(sizes[:-1]) == {50}
    assert len(sizes) > 2


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("--parquet", "nowhere/x.parquet"), 1, "FileNotFoundError"),
        (("--parquet", "x.parquet", "--games", "chess"), 2, "unknown-name"),
        (("--parquet", "x.parquet", "--format", "csv"), 2, "option-combination"),
        (("--parquet", "x.parquet", "--games", "pouku"), 1, "no-closed-match"),
        (("--games", "poke"), 2, "option-combination"),
        (("poke", "--games", "poke", "--parquet", "x.parquet"), 2, "option-combination"),
        (("--views",), 2, "option-combination"),
    ],
)
def test_a_failed_export_leaves_no_file(
    cli: Cli,
    tournaments: list[Tournament],
    cwd: Path,
    words: tuple[str, ...],
    status: int,
    code: str,
) -> None:
    result = cli("export", *words)
    assert (result.status, result.code) == (status, code)
    assert not list(cwd.glob("*.parquet*"))


def test_a_failed_export_keeps_an_existing_file(
    cli: Cli, tournaments: list[Tournament], cwd: Path
) -> None:
    (cwd / "x.parquet").write_text("mine")
    assert cli("export", "--games", "pouku", "--parquet", "x.parquet").status == 1
    assert (cwd / "x.parquet").read_text() == "mine"


def test_without_pyarrow_the_error_names_the_extra(
    cli: Cli, tournaments: list[Tournament], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "arena.records.dataset")
    monkeypatch.delattr("arena.records.dataset")
    result = cli("export", "--parquet", "x.parquet")
    assert result.status == 1
    assert result.code == "pyarrow-missing"


def test_the_example_of_the_page_reads_the_export(cli: Cli, tournaments: list[Tournament]) -> None:
    assert cli("export", "--views", "--parquet", "decisions.parquet").status == 0
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(example, names)
    actions = [
        line
        for record in records(tournaments[0])
        for game in record.games
        for line in game.actions
        if line.get("by") != "referee"
    ]
    assert actions
    decision_rows = names["decisions"].to_pylist()
    assert [json.loads(line["action"]) for line in decision_rows] == [
        line["action"] for line in actions
    ]
    assert all(line["view"] for line in decision_rows)


def test_the_page_explains_every_column() -> None:
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    documented = [row.split("|")[1].split(",") for row in rows if row.startswith("| `")]
    assert [name.strip(" `") for names in documented for name in names] == dataset.SCHEMA.names

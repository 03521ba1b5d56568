"""`pokearena tournament export`: a tournament as static pages."""

from pathlib import Path

import pytest

from arena.store.tournaments.tournaments import Tournament
from tests.arena.cli.terminal import Cli
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.full_disk import full_disk_beside


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def tournament(data: Path) -> Tournament:
    simulated_arena = SimulatedArena(data)
    made = simulated_arena.play_out(simulated_arena.begin("round-robin", simulated_arena.bots(2)))
    simulated_arena.engine.dispose()
    return made


@pytest.mark.long
def test_the_site_is_written_only_into_an_empty_folder(
    cli: Cli, data: Path, tournament: Tournament, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    words = ["tournament", "export", tournament.id, "--html", out, "--data", data]
    result = cli(*words, "--json")
    document = result.json
    assert (result.status, document["tournament"], document["folder"]) == (
        0,
        tournament.id,
        str(out),
    )
    assert document["files"] == sum(path.is_file() for path in out.rglob("*"))
    assert (out / "index.html").is_file()
    again = cli(*words)
    assert again.status == 2
    assert again.code == "not-empty"


@pytest.mark.long
@pytest.mark.parametrize("exists", [False, True])
def test_a_full_disk_leaves_no_incomplete_site(
    cli: Cli, data: Path, tournament: Tournament, tmp_path: Path, exists: bool
) -> None:
    out = tmp_path / "site"
    if exists:
        out.mkdir()
    words = ("tournament", "export", tournament.id, "--html", out, "--data", data)
    with full_disk_beside(data / "arena.db"):
        refused = cli(*words)
    assert (refused.status, refused.code) == (1, "cannot-write")
    assert [path.name for path in tmp_path.iterdir() if path != data] == ["site"] * exists
    assert cli(*words).status == 0
    assert (out / "index.html").is_file()


def test_an_unknown_tournament_is_refused(
    cli: Cli, data: Path, tournament: Tournament, tmp_path: Path
) -> None:
    result = cli("tournament", "export", "t-nothing", "--html", tmp_path / "x", "--data", data)
    assert result.status != 0
    assert "t-nothing" in result.err
    assert not (tmp_path / "x").exists()

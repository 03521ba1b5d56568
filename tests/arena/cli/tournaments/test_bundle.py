"""`tournament bundle` and `tournament verify`."""

import json
from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from arena.store.matches import match_leases
from tests.arena.cli.terminal import Cli
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.closed_matches import play, table
from tests.arena.web.pages.test_bot_pages import crash
from tests.full_disk import full_disk_beside


def test_a_bundle_verifies_without_an_arena(cli: Cli, tournament: str, cwd: Path) -> None:
    result = cli("tournament", "bundle", tournament[:-1], "--output", "friday")
    assert result.status == 0
    assert len(list(Path("friday/matches").iterdir())) == 3
    assert result.last == "next  pokearena tournament verify friday"
    names = {path.name for path in (cwd / "friday").iterdir()}
    assert names == {"tournament.json", "standings.json", "README.md", "matches"}
    (cwd / ".pokearena").rename(cwd / "elsewhere")
    verified = cli("tournament", "verify", "friday")
    assert verified.status == 0
    assert verified.out.splitlines()[-1] == f"{tournament} verifies"
    assert "3 matches: 3 closed" in verified.out
    assert not (cwd / ".pokearena").exists()
    replay = verified.last.split("  pokearena ")[1].split()
    assert cli(*replay).status == 0
    match = next((cwd / "friday" / "matches").iterdir())
    assert cli("verify", match).status == 0


def test_bundle_and_store_verify_with_equal_reports(cli: Cli, tournament: str) -> None:
    cli("tournament", "bundle", tournament, "--output", "friday")
    there = cli("tournament", "verify", tournament, "--json")
    alone = cli("tournament", "verify", "friday", "--json")
    assert there.status == alone.status == 0
    assert there.out == alone.out
    document = alone.json
    assert (document["tournament"], document["verified"], document["problems"]) == (
        tournament,
        True,
        [],
    )
    assert (
        document["matches"]["closed"],
        document["games"],
        document["seeds_from_tournament"],
        document["pairing_checked"],
    ) == (3, 6, 3, True)


def test_bundle_prints_json_and_is_reproducible(cli: Cli, tournament: str, cwd: Path) -> None:
    result = cli("tournament", "bundle", tournament, "--json")
    document = result.json
    assert document == {
        "tournament": tournament,
        "folder": f"bundle-{tournament}",
        "state": "closed",
        "matches": 3,
        "records": 3,
    }
    where = cwd / document["folder"]
    first = {path: path.read_bytes() for path in where.rglob("*") if path.is_file()}
    assert cli("tournament", "bundle", tournament).status == 0
    assert {path: path.read_bytes() for path in where.rglob("*") if path.is_file()} == first


def test_a_changed_bundle_is_reported_and_fails(cli: Cli, tournament: str, cwd: Path) -> None:
    cli("tournament", "bundle", tournament, "--output", "friday")
    path = cwd / "friday" / "standings.json"
    document = json.loads(path.read_text())
    document["standings"][0]["wins"] += 1
    path.write_text(json.dumps(document))
    result = cli("tournament", "verify", "friday")
    assert result.status == 1
    bot = document["standings"][0]["entrant"]
    assert f"{tournament}: standings: wins of {bot} of standings is" in result.out
    assert "verifies" not in result.out
    assert cli("tournament", "verify", "friday", "--json").json["verified"] is False


def test_a_bundle_is_replaced_by_a_newer_one_of_the_same_tournament_only(
    cli: Cli, cwd: Path
) -> None:
    simulated_arena = SimulatedArena(cwd / ".pokearena")
    bots = simulated_arena.bots(3)
    tournament, other = (
        simulated_arena.begin("round-robin", bots),
        simulated_arena.begin("round-robin", bots),
    )
    simulated_arena.play(match_leases.due(simulated_arena.engine)[0])
    assert cli("tournament", "bundle", tournament.id, "--output", "friday").status == 0
    assert len(list((cwd / "friday" / "matches").iterdir())) == 1
    (cwd / "friday" / "notes.txt").write_text("mine")
    refused = cli("tournament", "bundle", other.id, "--output", "friday")
    assert refused.status == 2
    assert refused.code == "other-tournament"
    assert tournament.id in refused.err
    simulated_arena.play_out(tournament)
    simulated_arena.engine.dispose()
    assert cli("tournament", "bundle", tournament.id, "--output", "friday").status == 0
    assert len(list((cwd / "friday" / "matches").iterdir())) == 3
    assert (cwd / "friday" / "notes.txt").read_text() == "mine"
    assert cli("tournament", "verify", "friday").status == 0
    assert not [path for path in cwd.iterdir() if path.name.startswith(".friday")]


def test_verify_compares_the_end_with_an_earlier_bundle(cli: Cli, cwd: Path) -> None:
    simulated_arena = SimulatedArena(cwd / ".pokearena")
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(3))
    assert cli("tournament", "bundle", tournament.id, "--output", "noon").status == 0
    simulated_arena.play_out(tournament)
    simulated_arena.engine.dispose()
    result = cli("tournament", "verify", tournament.id, "--earlier", "noon")
    assert result.status == 0
    assert "the 3 matches of the earlier bundle are unchanged" in result.out
    path = cwd / "noon" / "tournament.json"
    document = json.loads(path.read_text())
    document["matches"][0]["commitment"] = "ab" * 32
    path.write_text(json.dumps(document))
    broken = cli("tournament", "verify", tournament.id, "--earlier", "noon")
    assert broken.status == 1
    assert f"{tournament.id}: commitment of {document['matches'][0]['match']} " in broken.out
    nothing = cli("tournament", "verify", tournament.id, "--earlier", "elsewhere")
    assert nothing.status == 2
    assert nothing.code == "not-a-bundle"


def test_a_folder_that_is_not_a_bundle_is_not_overwritten(
    cli: Cli, tournament: str, cwd: Path
) -> None:
    (cwd / "mine").mkdir()
    (cwd / "mine" / "thesis.txt").write_text("years of work")
    result = cli("tournament", "bundle", tournament, "--output", "mine")
    assert result.status == 2
    assert result.code == "not-empty"
    assert [path.name for path in (cwd / "mine").iterdir()] == ["thesis.txt"]
    verified = cli("tournament", "verify", "mine")
    assert verified.status == 2
    assert verified.code == "not-a-bundle"


def test_an_unreadable_bundle_is_refused(cli: Cli, cwd: Path) -> None:
    nowhere = cli("tournament", "verify", "no/where")
    assert (nowhere.status, nowhere.out) == (2, "")
    assert nowhere.code == "unknown-folder"
    none = cli("tournament", "verify", "t-nothing")
    assert none.status == 1
    assert none.code == "no-arena"
    (cwd / "broken").mkdir()
    (cwd / "broken" / "tournament.json").write_text("{")
    broken = cli("tournament", "verify", "broken")
    assert broken.status == 1
    assert "tournament.json: line 1: not valid JSON" in broken.err
    (cwd / "broken" / "tournament.json").write_text('{"format": 2}')
    newer = cli("tournament", "verify", "broken")
    assert newer.status == 1
    assert 'tournament.json: "format" must be 1' in newer.err


def test_a_bundle_does_not_contain_bot_output(cli: Cli, cwd: Path) -> None:
    held = play(Workspace(cwd / ".pokearena"), table("poke-2-must_beat=true"), change=crash)
    assert cli("tournament", "bundle", held.tournament, "--output", "friday").status == 0
    (record,) = (cwd / "friday" / "matches").iterdir()
    assert "its process ended in …/bot.py" in record.read_text()
    assert "secret plan" not in record.read_text()
    assert "secret plan" in cli("why", held.match).out
    same = cli("tournament", "verify", held.tournament, "--earlier", "friday")
    assert "has changed since" not in same.out


@pytest.mark.parametrize("exists", [False, True])
def test_a_full_disk_leaves_the_earlier_bundle(
    cli: Cli, tournament: str, cwd: Path, exists: bool
) -> None:
    if exists:
        assert cli("tournament", "bundle", tournament, "--output", "friday").status == 0
    before = {path: path.stat().st_mtime_ns for path in (cwd / "friday").rglob("*")}
    with full_disk_beside(cwd / ".pokearena" / "arena.db"):
        result = cli("tournament", "bundle", tournament, "--output", "friday")
    assert (result.status, result.code) == (1, "cannot-write")
    assert {path: path.stat().st_mtime_ns for path in (cwd / "friday").rglob("*")} == before
    assert {path.name for path in cwd.iterdir()} == {".pokearena"} | (
        {"friday"} if exists else set()
    )

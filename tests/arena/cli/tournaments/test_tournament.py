"""`pokearena tournament` on one machine: run, watch, interrupt, resume and cancel."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from sqlalchemy import delete

from arena import config
from arena.cli.bots import registration
from arena.cli.workspace import Workspace
from arena.config import Running
from arena.store import database, schema
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from arena.system import process_info
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA, Cli, in_own_process, running
from tests.arena.poke_plan import poke_plan

BOTS = ("sample:greedy", "sample:random", "sample:meek")


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one finished tournament of one match."""
    folder = tmp_path_factory.mktemp("arena")
    words = ("tournament", "run", "poke", "sample:greedy", "sample:meek", "-n", 1)
    result = in_own_process(folder, (*words, "--seed", "friday", "--workers", 1, "--json"))
    assert result.status == 0, result.err
    (folder / "run.json").write_text(result.out)
    return folder / ".pokearena"


@pytest.fixture
def run_document(arena: Path) -> dict[str, Any]:
    """Return the output of `tournament run --json`."""
    document: dict[str, Any] = json.loads((arena.parent / "run.json").read_text())
    return document


def scheduled() -> tuple[Workspace, Tournament]:
    """Store a tournament of two bots in the working directory."""
    workspace = Workspace()
    entrants = [registration.register(workspace, workspace.bot(text)).id for text in BOTS[:2]]
    return workspace, scheduler.begin(workspace.store, poke_plan(name="x"), entrants)


@pytest.mark.long
def test_all_pairs_meet_and_every_match_closes_once(cwd: Path) -> None:
    words = ("tournament", "run", "poke", *BOTS, "-n", 1, "--seed", "x", "--name", "friday")
    run_document = in_own_process(cwd, (*words, "--json")).json
    assert (run_document["state"], run_document["game"], run_document["name"]) == (
        "closed",
        "poke",
        "friday",
    )
    assert run_document["entrants"] == ["greedy@1", "random@1", "meek@1"]
    assert {tuple(match["entrants"]) for match in run_document["schedule"]} == {
        ("greedy@1", "random@1"),
        ("greedy@1", "meek@1"),
        ("random@1", "meek@1"),
    }
    # After a stall of a busy machine a match has a second attempt.
    assert [match["state"] for match in run_document["schedule"]] == ["closed"] * 3
    assert [standing["games"] for standing in run_document["standings"]] == [4, 4, 4]
    assert len(run_document["seed"]) == 64


def test_standings_are_printed_as_text_and_json(
    cli: Cli, arena: Path, run_document: dict[str, Any]
) -> None:
    result = cli("standings", "--data", arena)
    assert result.status == 0
    head, columns, first, *_ = result.out.splitlines()
    assert head == "poke"
    assert columns.split() == "# bot strength Elo matches W–D–L points/board p95 ms".split()
    assert first.split()[1] == run_document["standings"][0]["entrant"]
    assert result.last == f"next  pokearena tournament list --data {arena}"
    ladders = cli("standings", "poke", "--json", "--data", arena).json["ladders"]
    assert ladders == {"poke": run_document["standings"]}
    only = cli("standings", "--tournament", run_document["tournament"], "--json", "--data", arena)
    assert only.json["ladders"] == ladders


@pytest.mark.long
def test_the_ladder_of_one_form_can_be_selected(cli: Cli) -> None:
    words = ("sample:meek", "sample:random", "-n", 1, "--seats", 2)
    assert cli("tournament", "run", "saint_poker", *words).status == 0
    ladders = cli("standings", "saint_poker-2", "--json").json["ladders"]
    assert list(ladders) == ["saint_poker-2"]
    assert cli("standings", "saint_poker-3").status == 2


def test_a_game_without_matches_has_no_ladder(cli: Cli, arena: Path) -> None:
    result = cli("standings", "saint_poker", "--json", "--data", arena)
    assert result.status == 0
    assert result.json["ladders"] == {}
    unknown = cli("standings", "poker", "--data", arena)
    assert unknown.status == 2
    assert 'did you mean "poke"?' in unknown.err


def test_a_tournament_is_listed_and_shown(
    cli: Cli, arena: Path, run_document: dict[str, Any]
) -> None:
    name = run_document["tournament"]
    assert name in cli("tournament", "list", "--data", arena).out
    (listed,) = cli("tournament", "list", "--json", "--data", arena).out.splitlines()
    assert json.loads(listed)["tournament"] == name
    shown = cli("tournament", "show", name[:-1], "--data", arena)
    # The command that was just used is not suggested.
    assert shown.last.startswith("next  pokearena replay m-")
    assert shown.status == 0
    for match in run_document["schedule"]:
        assert match["match"] in shown.out
    assert cli("tournament", "show", name, "--json", "--data", arena).json == run_document
    assert cli("tournament", "show", "t-nothing", "--data", arena).status == 2


def test_a_void_match_is_a_warning(
    cli: Cli, arena: Path, tmp_path: Path, run_document: dict[str, Any]
) -> None:
    assert (
        "warning" not in cli("tournament", "show", run_document["tournament"], "--data", arena).err
    )
    data = shutil.copytree(arena, tmp_path / "data")
    void = run_document["schedule"][0]["match"]
    with sqlite3.connect(data / "arena.db") as store:
        store.execute("DELETE FROM results WHERE match = ?", [void])
        store.execute(
            "UPDATE matches SET state = 'VOID', reason = 'It broke.' WHERE id = ?", [void]
        )
    store.close()
    shown = cli("tournament", "show", run_document["tournament"], "--data", data)
    assert f"warning  {void} is void and counts for no bot: It broke." in shown.err


def test_matches_of_a_tournament_can_be_replayed_and_verified(
    cli: Cli, arena: Path, run_document: dict[str, Any]
) -> None:
    matches = [match["match"] for match in run_document["schedule"]]
    verified = cli("verify", *matches, "--json", "--data", arena)
    assert verified.status == 0
    assert [json.loads(line)["match"] for line in verified.out.splitlines()] == matches
    replayed = cli("replay", matches[0][:8], "--game", 0, "--json", "--data", arena)
    assert json.loads(replayed.out.splitlines()[0])["match"] == matches[0]
    assert cli("logs", matches[0], "--data", arena).status == 0
    result = cli("ask", f"{matches[0]}:0:0", "greedy@1", "--json", "--data", arena)
    answer = result.json
    assert answer["legal"] is True


@pytest.mark.long
def test_a_stored_version_can_be_played_locally(cli: Cli, arena: Path) -> None:
    result = cli("play", "poke", "greedy", "meek@1", "--json", "--data", arena)
    assert result.status == 0
    assert [bot["bot"] for bot in result.json["bots"]] == ["greedy@1", "meek@1"]


def test_an_invalid_tournament_is_refused_before_anything_is_stored(cli: Cli) -> None:
    for words, sentence in (
        (("poke", "sample:meek"), "2 bots"),
        (("poke", *BOTS, "--seats", 3), "poke"),
        (("saint_poker", *BOTS, "--seats", 4), "takes 4 bots here; 3 are named."),
        (("poke", "sample:meek", "sample:gredy"), 'did you mean "greedy"?'),
        (("pock", *BOTS), 'did you mean "poke"?'),
    ):
        result = cli("tournament", "run", *words)
        assert result.status == 2
        assert sentence in result.err
    assert not Path(".pokearena/arena.db").exists()
    twice = cli("tournament", "run", "poke", "sample:meek", "sample:meek")
    assert twice.status == 2
    assert twice.code == "named-twice"


@pytest.mark.long
def test_ctrl_c_loses_nothing_and_resume_continues(cli: Cli, cwd: Path) -> None:
    words = ["tournament", "run", "poke", *BOTS, "-n", "60", "--workers", "1"]
    with running(*words) as (process, _, err):
        seen: list[str] = []
        while "matches, " not in "".join(seen[-1:]):
            seen.append(err.readline())
        os.kill(process.pid, signal.SIGINT)
        seen += err.readlines()
    assert process.returncode == 130
    assert "Traceback" not in "".join(seen)
    last_line = seen[-1].rstrip()
    assert last_line.startswith("next  pokearena tournament resume t-")
    name = last_line.split()[-1]
    paused = cli("tournament", "show", name, "--json").json
    assert paused["state"] == "paused"
    assert paused["games"] < paused["planned"] == 360
    ended = cli("tournament", "cancel", name, "--json", "--reason", "a test")
    assert ended.json["state"] == "cancelled"
    assert cli("tournament", "cancel", name, "--reason", "a test").status == 1
    again = cli("tournament", "resume", name)
    assert again.status == 1
    assert again.code == "already-over"
    assert cli("tournament", "resume").status == 1


@pytest.mark.long
def test_an_interrupted_tournament_is_resumed_to_its_end(cli: Cli, cwd: Path) -> None:
    workspace, made = scheduled()
    lifecycle.pause(workspace.store, made.id)
    result = cli("tournament", "resume", "--workers", 1, "--json")
    assert result.status == 0, result.err
    document = result.json
    assert (document["tournament"], document["state"], document["games"]) == (made.id, "closed", 2)
    assert cli("tournament", "resume").status == 1


@pytest.mark.long
def test_running_services_play_scheduled_matches(cli: Cli, cwd: Path) -> None:
    with running("serve", "--workers", 1, "--json", "--port", 0) as (process, out, err):
        serving = json.loads(out.readline())
        services = {service["name"] for service in serving["processes"]}
        assert services == {"referee-worker-1", "worker-1", "web", "submissions", "sweeper"}
        with urlopen(serving["page"]) as page:
            assert "Poke arena" in page.read().decode()
        again = cli("serve")
        assert again.status == 1
        assert f"as process {process.pid}" in again.err
        result = cli("tournament", "run", "poke", *BOTS[:2], "-n", 1, "--json")
        assert result.status == 0
        assert "using the services that already run for this data folder" in result.err
        assert result.json["state"] == "closed"
        os.kill(process.pid, signal.SIGINT)
        out.read()
        assert "Traceback" not in err.read()
    assert process.returncode == 0


def test_a_used_port_is_reported_before_anything_starts(cli: Cli, cwd: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = cli("serve", "--port", other.getsockname()[1])
    assert result.status == 3
    assert "--port" in result.err
    assert not (cwd / ".pokearena").exists()


@pytest.mark.long
def test_services_that_stop_are_replaced_by_new_ones(cwd: Path) -> None:
    with running("serve", "--workers", 1, "--no-web") as (serving, served, _):
        served.readline()
        words = ("tournament", "run", "poke", *BOTS[:2], "-n", 60, "--json")
        with running(*words) as (process, out, err):
            while "games" not in err.readline():
                pass
            serving.terminate()
            served.read()
            document = json.loads(out.read())
            assert "services have ended" in err.read()
        assert process.returncode == 0
    assert serving.returncode == 0
    assert (document["state"], document["games"]) == ("closed", 120)


def test_a_tournament_without_services_waits(cli: Cli, cwd: Path) -> None:
    workspace, made = scheduled()

    def state() -> tuple[str, bool]:
        (row,) = [
            line for line in cli("tournament", "list").out.splitlines() if line.startswith(made.id)
        ]
        words = set(row.split()) & {"running", "waiting"}
        playing = cli("tournament", "list", "--json").json["playing"]
        assert f"x · {' '.join(words)}" in cli("tournament", "show", made.id).out
        return " ".join(words), playing

    assert state() == ("waiting", False)
    assert cli("tournament", "list").last == f"next  pokearena tournament resume {made.id}"
    assert cli("tournament", "show", made.id).last == f"next  pokearena tournament resume {made.id}"
    began = process_info.start_time(os.getpid())
    workspace.folder.note_running(Running(os.getpid(), "", "", "", began))
    assert state() == ("running", True)
    assert cli("tournament", "show", made.id).last == "next  pokearena tournament list"
    workspace.folder.note_running(Running(os.getpid(), "", "", "", "another"))
    assert state() == ("waiting", False)
    with workspace.store.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE matches SET state = 'RUNNING', attempt = 1, leased = 0,"
            " lease_until = unixepoch() + 60"
        )
    assert state() == ("running", True)


@pytest.mark.long
@pytest.mark.parametrize("is_rated", [True, False])
def test_a_read_only_data_folder_can_be_read(
    arena: Path, tmp_path: Path, run_document: dict[str, Any], is_rated: bool
) -> None:
    data = shutil.copytree(arena, tmp_path / "data")
    if not is_rated:
        engine = database.open(config.sqlite_url(data / "arena.db"))
        with database.writing(engine) as connection:
            connection.execute(delete(schema.followers))
        engine.dispose()
    for path in (*data.rglob("*"), data):
        path.chmod(path.stat().st_mode & ~0o222)
    # Root without dropped capabilities ignores permissions.
    lowered = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if lowered and shutil.which(lowered[0]) is None:
        pytest.skip("setpriv is not installed")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [*lowered, str(POKEARENA), *words, "--json", "--data", str(data)]
        return subprocess.run(line, capture_output=True, text=True)

    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    standings = run("standings")
    assert json.loads(standings.stdout)["ladders"] == {"poke": run_document["standings"]}, (
        standings.stderr
    )
    assert json.loads(run("tournament", "list").stdout)["tournament"] == run_document["tournament"]
    match = run_document["schedule"][0]["match"]
    assert json.loads(run("replay", match).stdout.splitlines()[0])["match"] == match
    assert run("owner", "add", "ada").returncode == 3
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before
    data.chmod(0o700)
    for path in data.rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)

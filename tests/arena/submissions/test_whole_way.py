"""Test a bot that is submitted over HTTP to a running ladder, and plays there."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.bots import resolver
from arena.cli.bots import push, registration
from arena.cli.workspace import Workspace
from arena.store.bots import owners, submissions
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import listing
from arena.store.schema import MatchState, SubmissionStage
from arena.submissions import open_ladders
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA, CommandResult, in_own_process
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        shutil.which("bwrap") is None and "CI" not in os.environ,
        reason="without bubblewrap nobody's bot is taken here",
    ),
]


@contextmanager
def serving(workspace: Workspace, *options: str) -> Iterator[str]:
    """Run `pokearena serve`; yield the URL of its pages."""
    command: list[str | Path] = [POKEARENA, "serve", *options, "--port", "0", "--json"]
    where = ["--data", str(workspace.folder.root)]
    with GuardedProcess([*command, *where], stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            yield json.loads(serve.stdout.readline())["page"].rstrip("/")
        finally:
            serve.send_signal(signal.SIGINT)


def runner(workspace: Workspace) -> int:
    running = workspace.folder.running()
    assert running is not None
    children = Path(f"/proc/{running.pid}/task").glob("*/children")
    pids = [int(pid) for children_file in children for pid in children_file.read_text().split()]
    command = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids}
    (runner_pid,) = (pid for pid, words in command.items() if b"arena.submissions" in words)
    return runner_pid


def test_a_bot_is_pushed_onto_a_ladder_and_plays_there(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    token = owners.add_owner(workspace.store, "ada")
    house = [
        registration.register(workspace, workspace.bot(f"sample:{n}")).id
        for n in ("random", "meek")
    ]
    plan = TournamentPlan(
        name="open",
        game="poke",
        options={"must_beat": True},
        seats=2,
        boards=1,
        format="ladder",
        settings={"open": True, "limit": 60},
        clock=Clock(60_000, 5000),
    )
    ladder = scheduler.begin(workspace.store, plan, house)
    assert in_own_process(tmp_path, ["new", "mine"]).status == 0
    manifest = tmp_path / "mine" / "bot.toml"
    text = manifest.read_text()
    manifest.write_text(
        text.replace(text[text.index("games") :].split("\n")[0], 'games = ["poke"]')
    )

    with serving(workspace, "--no-ladders", "--workers", "1") as url:

        def push_mine() -> CommandResult:
            return in_own_process(
                tmp_path, ["bot", "push", "mine", "--to", url], {"POKEARENA_TOKEN": token}
            )

        result = push_mine()
        assert (result.status, result.out) == (
            0,
            f"mine@1 is on the ladder poke~slow ({ladder.id}).\n",
        ), result.err

        def closed(version: str) -> bool:
            matches = listing.matches(
                workspace.store, tournament=ladder.id, states=(MatchState.CLOSED,), limit=100
            )
            return any(version in match.entrants for match in matches)

        wait_until(lambda: closed("mine@1"))

        # Submit the next version, and kill the process that handles it.
        (tmp_path / "mine" / "more.txt").write_text("more")
        with GuardedProcess(
            [POKEARENA, "bot", "push", "mine", "--to", url],
            stdout=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "POKEARENA_TOKEN": token},
            text=True,
        ) as second:
            wait_until(
                lambda: (
                    submissions.list_submissions(workspace.store)[0].stage
                    is SubmissionStage.TESTING
                )
            )
            os.kill(runner(workspace), signal.SIGKILL)
            out, _ = second.communicate()
        assert (second.returncode, out) == (
            0,
            f"mine@2 is on the ladder poke~slow ({ladder.id}).\n",
        )
        assert submissions.list_submissions(workspace.store)[0].attempts == 2
        wait_until(lambda: closed("mine@2"))

        (tmp_path / "mine" / "bot.py").write_text("import nothing_of_this_name\n")
        result = push_mine()
        assert result.status == 1
        assert "1 of 1 checks failed" in result.err
        assert "nothing_of_this_name" in result.out
        assert str(tmp_path) not in result.out + result.err


def test_the_first_pushed_bot_opens_its_ladder(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    token = owners.add_owner(workspace.store, "ada")
    assert in_own_process(tmp_path, ["new", "mine"]).status == 0
    manifest = tmp_path / "mine" / "bot.toml"
    manifest.write_text(re.sub("(?m)^games = .*$", 'games = ["poke"]', manifest.read_text()))
    with serving(workspace, "--workers", "0") as url:
        words = ["bot", "push", "mine", "--to", url, "--json"]
        pushed = in_own_process(tmp_path, words, {"POKEARENA_TOKEN": token})
    assert pushed.status == 0, pushed.err
    ladders = {
        ladder.plan.form: ladder.entrants
        for ladder in open_ladders.list_open_ladders(workspace.store)
    }
    assert ladders == {"poke": ("mine@1",)}
    assert len(json.loads(pushed.out)["ladders"]) == 1


def test_a_class_behind_one_address_pushes_thirty_bots_at_once(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    tokens = {f"owner{n}": owners.add_owner(workspace.store, f"owner{n}") for n in range(30)}
    assert in_own_process(tmp_path, ["new", "mine"]).status == 0
    for owner in tokens:
        folder = shutil.copytree(tmp_path / "mine", tmp_path / owner)
        manifest = folder / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"mine"', f'"{owner}"', 1))
    with (
        serving(workspace, "--workers", "0", "--no-ladders") as url,
        ThreadPoolExecutor(len(tokens)) as pool,
    ):

        def pushed(owner: str) -> str:
            with push.packed(resolver.from_folder(tmp_path / owner)) as upload:
                arena = push.arena_at(url, tokens[owner])
                return str(push.send(arena, upload, lambda cost: None)["submission"])

        sent = dict(zip(pool.map(pushed, tokens), tokens, strict=True))
    stored = {each.id: each.owner for each in submissions.list_submissions(workspace.store)}
    assert sent == stored

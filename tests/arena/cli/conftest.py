"""Fixtures that run the command line, in this process or in a process of its own."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.cli.run import execute
from arena.cli.workspace import Workspace
from arena.matches.private_referee import own_referee
from tests.arena.cli.stored_tournament import Scores, StoreTournament, store_tournament
from tests.arena.cli.terminal import Cli, CommandResult, Write, in_own_process
from tests.arena.records.bundle.simulated_arena import SimulatedArena

BOT = """
import time
from pokearena.v1 import bot_pb2
from pokearena_bot import run

def choose(turn):
{choose}

run(choose)
"""


_OURS = ("REDIS_URL", "DATABASE_URL", "UV_RUN_RECURSION_DEPTH")


@pytest.fixture(autouse=True)
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working directory; remove the arena's variables from the environment."""
    for name in list(os.environ):
        if name.startswith("POKEARENA_") or name in _OURS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stored_tournament(cwd: Path) -> StoreTournament:
    """Store a round robin in the working directory."""

    def store(bots: Sequence[str], results: Scores, cycles: int) -> str:
        workspace = Workspace()
        tournament = store_tournament(workspace, bots, results, cycles=cycles)
        workspace.store.dispose()
        return tournament

    return store


@pytest.fixture(scope="session")
def referee() -> Iterator[str]:
    """Start one referee for all command lines of this process."""
    with own_referee() as address:
        yield address


@pytest.fixture
def cli(
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Cli:
    """Run a command line in this process.

    Matches use a referee that runs already. Use `program` for commands that must start their own.
    """

    @contextmanager
    def shared(trace: Path | None = None) -> Iterator[str]:
        if trace is None:
            yield request.getfixturevalue("referee")
        else:
            with own_referee(trace) as address:
                yield address

    for module in ("matches.local_match", "cli.develop.examination"):
        monkeypatch.setattr(f"arena.{module}.own_referee", shared)

    def run(*words: object) -> CommandResult:
        capsys.readouterr()
        outcome = execute([str(word) for word in words])
        captured = capsys.readouterr()
        return CommandResult(outcome.status, captured.out, captured.err, outcome.error)

    return run


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of a match between two house bots."""
    folder = tmp_path_factory.mktemp("played")
    words = ("play", "poke", "sample:greedy", "sample:random", "--seed", "0", "--record", "m.jsonl")
    result = in_own_process(folder, words)
    assert result.status == 0, result.err
    return folder / "m.jsonl"


@pytest.fixture(scope="session")
def played_cup(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the data folder and the id of a finished round robin."""
    simulated_arena = SimulatedArena(tmp_path_factory.mktemp("cup") / ".pokearena")
    made = simulated_arena.play_out(simulated_arena.begin("round-robin", simulated_arena.bots(3)))
    simulated_arena.engine.dispose()
    return simulated_arena.folder, made.id


@pytest.fixture
def tournament(cwd: Path, played_cup: tuple[Path, str]) -> str:
    """Copy the arena of a finished round robin into the working directory; return its id."""
    folder, name = played_cup
    shutil.copytree(folder, cwd / ".pokearena")
    return name


@pytest.fixture
def program(cwd: Path) -> Cli:
    """Run a command line in a process of its own."""

    def run(*words: object, **environment: str) -> CommandResult:
        return in_own_process(cwd, words, environment)

    return run


@pytest.fixture
def bot(cwd: Path) -> Write:
    """Write a bot in one file, with the given body of `choose`; return the name of the file."""

    def write(name: str, body: str) -> str:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        (cwd / f"{name}.py").write_text(BOT.format(choose=lines))
        return f"{name}.py"

    return write

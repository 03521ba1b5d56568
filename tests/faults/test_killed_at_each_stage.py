"""SIGKILL of each process of the arena, at each stage of a bot's life: no bot is charged."""

import os
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from arena.ratings.closed_match import PlayedGame
from arena.store.bots import remote_bots
from arena.store.matches import listing, results
from arena.store.schema import MatchState
from tests.arena.remote.relay_harness import AuthorMachine
from tests.faults import processes
from tests.faults.checker import check
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness
from tests.waiting import has_exited, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

STAGES = ("starting", "ending", "waiting", "answering")
"""The stages of a match, in order.

The match has two tables of one game. It has two failures before its first committed game and two
after it; a third one in sequence would make it void.
"""
PLAYING = ("worker", "horse", "keeper", "guard", "sandbox", "referee", "relay")
"""The processes without which a match cannot continue."""
BESIDE = ("redis", "web", "submissions")
"""The processes whose death affects no match."""
ABOVE = ("worker", "horse", "keeper", "guard", "sandbox")
"""The processes above a hosted bot, the highest first."""
HOLD_SECONDS = 15.0
"""The longest time a bot stops at a stage: less than its clock, so that it is never late."""
BOT = """
import sys, time
from pathlib import Path

HELD = Path(__file__).with_name("held")
NAME = {name!r}


def reach(stage):
    # The name of the process is what the test can see of a bot in its sandbox.
    Path("/proc/self/comm").write_text(f"{{NAME}}:{{stage}}")
    give_up = time.monotonic() + {seconds}
    while is_held(stage) and time.monotonic() < give_up:
        time.sleep(0.01)


def is_held(stage):
    try:
        return HELD.read_text().strip() == stage
    except FileNotFoundError:
        return False


reach("starting")
from pokearena_bot import run


class Bot:
    def start(self, start):
        reach("waiting")

    def act(self, turn):
        reach("answering")
        reach("waiting")
        return turn.legal[{choice}]

    def end(self, end):
        reach("ending")


run(Bot())
"""
"""A bot that shows its stage as the name of its process, and stops at the stage in `held`."""


def source(name: str, choice: int = 0) -> str:
    return BOT.format(name=name, choice=choice, seconds=HOLD_SECONDS)


class StoppableArena:
    """An arena under `serve` whose bots can be stopped at a stage.

    Args:
        folders: the directory of each bot's files, by name.
    """

    def __init__(self, arena: Arena, serve: ServeProcess, folders: dict[str, Path]) -> None:
        self.arena = arena
        self.serve = serve
        self.folders = folders
        self._held: Path | None = None
        for folder in folders.values():
            self._mark(folder / "held", "")

    @staticmethod
    def _mark(mark: Path, stage: str) -> None:
        """Write a stage in place: a bot sees its folder through an overlay."""
        with mark.open("r+b" if mark.exists() else "wb", buffering=0) as file:
            file.write(stage.ljust(16).encode())

    def schedule(self, bot: str, other: str) -> str:
        """Schedule a match between two bots; return its id."""
        tournament = self.arena.schedule([f"{bot}@1", f"{other}@1"])
        [match] = listing.matches(self.arena.engine, tournament=tournament.id)
        return match.id

    def calm(self, bot: str, other: str) -> Sequence[PlayedGame]:
        """Play an undisturbed match; return its games."""
        match = self.schedule(bot, other)
        self.await_closed(match)
        assert self.reasons(match) == []
        return self.games(match)

    def hold(self, bot: str, other: str, stage: str) -> None:
        """Stop a bot at a stage until `let_go`.

        A bot waits for a question while its opponent answers.
        """
        name, at = (other, "answering") if stage == "waiting" else (bot, stage)
        mark = self.folders[name] / "held"
        self._mark(mark, at)
        # Release the previous bot only now, so that it cannot pass the next stage meanwhile.
        if self._held != mark:
            self.let_go()
        self._held = mark

    def let_go(self) -> None:
        if self._held is not None:
            self._mark(self._held, "")
        self._held = None

    def await_stage(self, bot: str, other: str, stage: str) -> int:
        """Wait until a bot has reached a stage; return its process id."""
        if stage == "waiting":
            self._await_process(f"{other}:answering")
        return self._await_process(f"{bot}:{stage}")

    def _await_process(self, name: str) -> int:
        pids: list[int] = []

        def is_there() -> bool:
            # Search all descendants of the test, because a remote bot is not a descendant of
            # `serve`.
            pids[:] = [pid for pid in processes.family(os.getpid()) if command_name(pid) == name]
            return bool(pids)

        wait_until(is_there)
        return pids[0]

    def kill(self, process: str, bot: int) -> int:
        """Kill a process of the arena; return its id.

        Each hosted bot has its own processes of `ABOVE`; the one above this bot is killed.
        """
        if process in ABOVE:
            above = dict(zip(ABOVE, processes.above(bot, self.serve.pid), strict=False))
            assert above, "the bot has passed its stage before anything was killed"
            if process == "sandbox":
                assert command_name(above[process]) == "bwrap"
            pid = above[process]
        else:
            pid = self.serve.one(process)
        assert processes.send(pid, signal.SIGKILL)
        return pid

    def await_replaced(self, process: str, pid: int) -> None:
        """Wait until `serve` has started a process again."""
        wait_until(lambda: self.serve.of(process) not in ([], [pid]))

    def await_game(self, match: str) -> None:
        games = "SELECT 1 FROM games WHERE match = ?"
        wait_until(lambda: self.arena.sql(games, match))

    def await_closed(self, match: str) -> None:
        """Wait until a match is over; restart `serve` if it exits."""
        state = "SELECT state FROM matches WHERE id = ?"
        ended = ([(MatchState.CLOSED.name,)], [(MatchState.VOID.name,)])
        self.serve.until(lambda: self.arena.sql(state, match) in ended, 100)

    def games(self, match: str) -> Sequence[PlayedGame]:
        closed = self.arena.sql("SELECT count(*) FROM results WHERE match = ?", match)
        assert closed == [(1,)], self.reasons(match)
        assert self.arena.sql("SELECT sentence FROM faults WHERE match = ?", match) == []
        games = results.of_match(self.arena.engine, match).games
        assert {verdict for game in games for verdict in game.verdicts} == {"finished"}
        assert {fault for game in games for fault in game.faults} == {0}
        return [game.result_only() for game in games]

    def reasons(self, match: str) -> list[str]:
        rows = self.arena.sql("SELECT reason FROM failures WHERE match = ? ORDER BY at", match)
        return [reason for (reason,) in rows]


def command_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def add(arena: Arena, *names: str) -> dict[str, Path]:
    """Add hosted bots; every other one plays the last listed action. Return their directories."""
    for number, name in enumerate(names):
        arena.program(name, source(name, -(number % 2)))
    return {name: arena.where.versions / name for name in names}


@pytest.fixture(scope="module")
def stopped() -> Iterator[StoppableArena]:
    """An arena with all of its services, two hosted bots and a remote bot."""
    options = ("--port", "0", "--relay", "127.0.0.1:0")
    with processes.orphanage():
        arena = Arena()
        _, token = remote_bots.add_relayed(arena.engine, "far", "1")
        folders = add(arena, "first", "last")
        with (
            Witness(arena) as witness,
            arena.serving(1, options) as serve,
            AuthorMachine(arena.root, serve.relay, token, bot=source("far")) as home,
        ):
            yield StoppableArena(arena, serve, {**folders, "far": home.folder})
            serve.until(arena.over)
        assert arena.sql("SELECT sentence FROM faults") == []
        check(arena, witness, "SIGKILL at each stage")
    if not os.environ.get("KEEP"):
        arena.remove()


@pytest.fixture(scope="module")
def undisturbed_games(stopped: StoppableArena) -> dict[str, Sequence[PlayedGame]]:
    """Return the games of an undisturbed match, by the name of the first bot."""
    return {bot: stopped.calm(bot, "last") for bot in ("first", "far")}


CI = (
    ("worker", "horse", "keeper", "guard"),
    ("sandbox", "referee", "worker", "horse"),
    ("keeper", "guard", "sandbox", "referee"),
    ("relay",) * len(STAGES),
)
"""The process that CI kills at each stage of a match: each hosted one at two stages."""


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param([BESIDE] * len(STAGES), id="-".join(BESIDE)),
        *(pytest.param([(each,) for each in kills], id="-".join(kills)) for kills in CI),
        *(
            pytest.param([(process,)] * len(STAGES), id=process, marks=pytest.mark.repetition)
            for process in PLAYING
        ),
    ],
)
def test_no_bot_is_charged_for_killed_processes(
    stopped: StoppableArena,
    undisturbed_games: dict[str, Sequence[PlayedGame]],
    kills: Sequence[Sequence[str]],
) -> None:
    bot = "far" if "relay" in kills[0] else "first"
    stopped.hold(bot, "last", STAGES[0])
    match = stopped.schedule(bot, "last")
    for stage, then, killed in zip(STAGES, [*STAGES[1:], ""], kills, strict=True):
        pid = stopped.await_stage(bot, "last", stage)
        pids = {process: stopped.kill(process, pid) for process in killed}
        if not pids.keys().isdisjoint(ABOVE):
            # Otherwise the dying bot could reach the next stage.
            wait_until(partial(has_exited, pid))
        if stage == "ending":
            stopped.await_game(match)
        if then:
            stopped.hold(bot, "last", then)
        for process in pids.keys() & set(BESIDE):
            stopped.await_replaced(process, pids[process])
    stopped.let_go()
    stopped.await_closed(match)
    assert stopped.games(match) == undisturbed_games[bot]
    reasons = stopped.reasons(match)
    # A kill is not a failure of the match if the stage was over before it took effect.
    expected = (0,) if kills[0] == BESIDE else range(1, len(STAGES) + 1)
    assert len(reasons) in expected, reasons


def test_no_bot_is_charged_for_a_killed_supervisor(conclude: Conclude) -> None:
    """Kill `serve` with bots at all stages, because each kill waits for the leases to lapse.

    While one bot is starting, its opponent waits for a question.
    """
    stages = {"a": "starting", "c": "answering", "e": "ending"}
    others = {"a": "b", "c": "d", "e": "f"}
    with processes.orphanage():
        arena = Arena()
        folders = add(arena, *"abcdef")
        with Witness(arena) as witness, arena.serving(3) as serve:
            tables = {bot: StoppableArena(arena, serve, folders) for bot in stages}
            calm = {bot: table.calm(bot, others[bot]) for bot, table in tables.items()}
            matches = {}
            for bot, table in tables.items():
                table.hold(bot, others[bot], stages[bot])
                matches[bot] = table.schedule(bot, others[bot])
                table.await_stage(bot, others[bot], stages[bot])
            assert processes.send(serve.pid, signal.SIGKILL)
            for table in tables.values():
                table.let_go()
            interrupted = []
            for bot, table in tables.items():
                table.await_closed(matches[bot])
                assert table.games(matches[bot]) == calm[bot]
                interrupted.append(len(table.reasons(matches[bot])))
            # On a busy machine the stage of the first ones may be over before `serve` is killed.
            assert interrupted[-1] == max(interrupted) == 1
            serve.until(arena.over)
        conclude(arena, witness, "SIGKILL of serve at each stage")
    arena.remove()

"""Test matches between real processes of every kind of bot, with a real referee."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.processes import Processes
from arena.bots.resolver import local
from arena.bots.sandbox import available_levels
from arena.bots.sandbox.available_levels import best_level
from arena.bots.socket_probe import listens
from arena.errors import InfrastructureError
from arena.matches.runner import play_match, record_text
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import Clock
from arena.store.matches import games
from arena.store.matches.spec import Entrant, MatchSpec
from referee.games.shared.dealing import commitment
from referee.record import read
from tests.errors import has_code
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

SEED = bytes(range(32))
BOT = """
import os, random, sys, time
from concurrent import futures
import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

class Service(bot_pb2_grpc.BotServiceServicer):
    asked = 0
    def Act(self, request, context):
        Service.asked += 1
        {act}
        return bot_pb2.ActResponse(action=random.Random(request.luck).choice(request.legal))

server = grpc.server(futures.ThreadPoolExecutor(1))
bot_pb2_grpc.add_BotServiceServicer_to_server(Service(), server)
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
"""


@dataclass(frozen=True)
class Referee:
    address: str
    process: subprocess.Popen[str]


@contextmanager
def started_referee(folder: Path) -> Iterator[Referee]:
    address = f"unix:{folder}/r.sock"
    with GuardedProcess(
        [sys.executable, "-m", "referee", "--address", address], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"referee listening at {address}\n"
        try:
            yield Referee(address, process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    with started_referee(tmp_path_factory.mktemp("r")) as referee:
        yield referee


@dataclass
class MatchResults:
    games: list[PlayedGame] = field(default_factory=list)
    reports_received: list[tuple[int, tuple[Report, ...]]] = field(default_factory=list)
    complete: bool = False

    def verdicts(self, entrant: int) -> list[str]:
        return [game.verdicts[entrant] for game in self.games]

    @property
    def faults(self) -> list[str]:
        return [fault.sentence for game in self.games for fault in game.faulted]


class MatchArena:
    def __init__(self, folder: Path, referee: Referee) -> None:
        self.folder = folder
        self.referee = referee

    def bot(self, name: str, act: str = "pass") -> Bot:
        """Write a bot that runs the statement `act` and then plays at random."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "bot.toml").write_text(f'name = "{name}"\nrun = ["python", "bot.py"]\n')
        (folder / "bot.py").write_text(BOT.format(act=act))
        return local(folder)

    def spec(self, bots: Sequence[Bot], boards: int = 2) -> MatchSpec:
        entrants = tuple(
            Entrant(f"{bot.label}@1", f"{number:064x}", str(bot.folder or ""), {})
            for number, bot in enumerate(bots)
        )
        return MatchSpec(
            id="m-0123456789",
            tournament=None,
            round=0,
            number=0,
            game="poke" if len(bots) == 2 else "saint_poker",
            options={"must_beat": True} if len(bots) == 2 else {},
            seats=len(bots),
            boards=boards,
            clock=Clock(bank_ms=60_000),
            faults="lenient",
            entrants=entrants,
            commitment=commitment(SEED),
            seed=SEED,
        )

    def play(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        committed: Sequence[PlayedGame] = (),
    ) -> MatchResults:
        played = MatchResults()
        played.complete = play_match(
            spec,
            self.referee.address,
            bots,
            played.games.append,
            committed,
            lambda entrant, reports: played.reports_received.append((entrant, tuple(reports))),
        )
        assert played.games == [games.read(game.record, spec.versions) for game in played.games]
        return played


@pytest.fixture
def arena(tmp_path: Path, referee: Referee) -> MatchArena:
    return MatchArena(tmp_path, referee)


def actions(game: PlayedGame) -> list[object]:
    lines = [json.loads(line) for line in game.record.splitlines()]
    return [line["action"] for line in lines if line["type"] == "action"]


@dataclass(frozen=True)
class FinishedMatch:
    spec: MatchSpec
    played: MatchResults


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, referee: Referee) -> FinishedMatch:
    """A match between two bots without a fault, which print their addresses."""
    arena = MatchArena(tmp_path_factory.mktemp("finished"), referee)
    act = "Service.asked == 1 and print(os.environ['POKEARENA_ADDRESS'], flush=True)"
    bots = [arena.bot("one", act), arena.bot("two", act)]
    spec = arena.spec(bots)
    return FinishedMatch(spec, arena.play(spec, bots))


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory, referee: Referee) -> MatchResults:
    """A match whose second bot prints "sorry" at its first question and exits with status 5."""
    arena = MatchArena(tmp_path_factory.mktemp("crashed"), referee)
    bots = [arena.bot("good"), arena.bot("dies", "print('sorry', flush=True) or os._exit(5)")]
    return arena.play(arena.spec(bots, boards=1), bots)


def test_a_match_plays_every_board_in_both_seatings(finished: FinishedMatch) -> None:
    played = finished.played
    assert played.complete
    assert [(game.game, game.table, game.board) for game in played.games] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 1, 0),
        (3, 1, 1),
    ]
    assert played.verdicts(0) == played.verdicts(1) == ["finished"] * 4
    first = [json.loads(game.record.splitlines()[0]) for game in played.games]
    assert first[0] == {
        "type": "game",
        "game": 0,
        "board": 0,
        "table": 0,
        "seating": ["one@1", "two@1"],
        "sandbox": best_level(),
    }
    assert [line["seating"] for line in first[2:]] == [["two@1", "one@1"]] * 2


def test_the_tables_of_a_match_are_mirrored(finished: FinishedMatch) -> None:
    # Both bots draw random numbers from the seed in the question, so the same cards give the same
    # game.
    games = finished.played.games
    assert actions(games[0]) == actions(games[2])
    assert actions(games[0]) != actions(games[1])


@pytest.mark.long
def test_a_match_of_three_plays_all_rotations(arena: MatchArena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    played = arena.play(arena.spec(bots, boards=1), bots)
    assert [game.table for game in played.games] == [0, 1, 2]
    assert all(game.scores is not None for game in played.games)


def test_every_table_gets_fresh_processes(finished: FinishedMatch) -> None:
    reported = finished.played.reports_received
    assert len({report.output for _, reports in reported for report in reports}) == 4


def test_a_resumed_match_plays_only_the_remaining_games(
    arena: MatchArena, finished: FinishedMatch
) -> None:
    bots = [arena.bot("one"), arena.bot("two")]
    spec, whole = arena.spec(bots), finished.played
    committed = whole.games[:3]
    rest = arena.play(spec, bots, committed)
    assert [game.game for game in rest.games] == [3]
    assert actions(rest.games[0]) == actions(whole.games[3])
    assert arena.play(spec, bots, [*committed, rest.games[0]]).games == []


@pytest.mark.long
def test_a_resumed_match_keeps_used_banks_and_faults(arena: MatchArena) -> None:
    bots = [arena.bot("good"), arena.bot("dies", "os._exit(5)")]
    spec = arena.spec(bots, boards=3)
    whole = arena.play(spec, bots)
    assert whole.verdicts(1)[:3] == ["crash", "crash", "forfeit"]
    rest = arena.play(spec, bots, whole.games[:2])
    assert rest.verdicts(1)[0] == "forfeit"


def test_a_failing_bot_gets_its_verdict_and_its_opponent_none(arena: MatchArena) -> None:
    """The hostile suite has a program for each verdict."""
    act = "[print('x' * 1000) for _ in range(10**9)]"
    bots = [arena.bot("good"), arena.bot("bad", act)]
    played = arena.play(arena.spec(bots, boards=1), bots)
    _check_verdicts(played, "resources", "stopped by the arena: wrote more than 8 MiB of output")


def test_a_bot_that_exits_has_crashed_and_its_opponent_has_no_fault(crashed: MatchResults) -> None:
    _check_verdicts(crashed, "crash", "exited with status 5")


def _check_verdicts(played: MatchResults, verdict: str, sentence: str) -> None:
    """Check that each game ended with this fault of the second bot."""
    assert played.verdicts(0) == ["finished", "finished"]
    assert played.verdicts(1) == [verdict, verdict]
    assert [game.places for game in played.games] == [(1, 2), (1, 2)]
    assert all(sentence in fault for fault in played.faults)
    assert len(played.faults) == 2


def test_a_fault_contains_the_end_of_the_output(crashed: MatchResults) -> None:
    fault = crashed.games[0].faulted[0]
    assert (fault.version, fault.ended, fault.output) == (
        "dies@1",
        "exited with status 5",
        "sorry\n",
    )


@pytest.mark.long
@pytest.mark.usefixtures("unsandboxed")
def test_a_bot_gets_a_fresh_process_after_a_crash(arena: MatchArena) -> None:
    mark = arena.folder / "crashed"
    act = f"os.path.exists('{mark}') or open('{mark}', 'w') and os._exit(1)"
    bots = [arena.bot("good"), arena.bot("once", act)]
    played = arena.play(arena.spec(bots), bots)
    assert played.verdicts(1) == ["crash", "finished", "finished", "finished"]
    ends = [reports for entrant, reports in played.reports_received if entrant == 1]
    assert [len(reports) for reports in ends] == [2, 1]


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        pytest.param(
            "./missing",
            "could not be started: ./missing: No such file or directory",
            marks=pytest.mark.long,
        ),
        ("missing", 'the program "missing" is not on the PATH of the arena'),
    ],
)
def test_a_bot_that_cannot_be_started_forfeits_at_once(
    arena: MatchArena, run: str, sentence: str
) -> None:
    bots = [arena.bot("good"), arena.bot("bad")]
    (arena.folder / "bad" / "bot.toml").write_text(f'name = "bad"\nrun = ["{run}"]\n')
    bots[1] = local(arena.folder / "bad")
    played = arena.play(arena.spec(bots), bots)
    assert played.verdicts(1) == ["init", "forfeit", "init", "forfeit"]
    assert played.verdicts(0) == ["finished"] * 4
    assert all(sentence in fault for fault in played.faults)


@pytest.mark.long
def test_the_strict_policy_stops_at_the_first_fault(arena: MatchArena) -> None:
    bots = [arena.bot("good"), arena.bot("bad", "return bot_pb2.ActResponse()")]
    played = arena.play(replace(arena.spec(bots), faults="strict"), bots)
    assert not played.complete
    assert played.verdicts(1) == ["protocol"]


def test_a_remote_bot_plays_at_its_address_on_fresh_boards(
    arena: MatchArena, tmp_path: Path
) -> None:
    with Processes(level=available_levels.best_level()) as elsewhere:
        address = elsewhere.start(0, arena.bot("theirs"))
        bots = [arena.bot("ours"), Bot("remote", address=address)]
        played = arena.play(arena.spec(bots, boards=1), bots)
        assert played.verdicts(1) == ["finished", "finished"]
        assert actions(played.games[0]) != actions(played.games[1])
        assert [game.board for game in played.games] == [0, 1]
        assert {entrant for entrant, _ in played.reports_received} == {0}
        assert elsewhere.report(0).ended == ""


@pytest.mark.long
def test_a_remote_bot_that_dies_has_crashed(arena: MatchArena) -> None:
    with Processes(level=available_levels.best_level()) as elsewhere:
        act = "os.unlink(os.environ['POKEARENA_ADDRESS'][5:]) or os._exit(1)"
        address = elsewhere.start(0, arena.bot("theirs", act))
        wait_until(lambda: listens(address))
        bots = [arena.bot("ours"), Bot("remote", address=address)]
        nothing = {word: [0, 0] for word in ("bank_ms", "faults", "crashes")}
        second_table = PlayedGame(
            1, (1, 1), None, ("finished",) * 2, (0, 0), table=1, tally=nothing
        )
        played = arena.play(arena.spec(bots, boards=1), bots, [second_table])
    assert played.verdicts(1) == ["crash"]
    assert "cannot be reached any more" in played.faults[0]


def test_an_unreachable_referee_is_an_infrastructure_fault(arena: MatchArena) -> None:
    bots = [arena.bot("one"), arena.bot("two")]
    with pytest.raises(InfrastructureError, check=has_code("no-referee")):
        play_match(arena.spec(bots), "unix:/nowhere", bots, print, timeout=0.05)


def test_a_dead_referee_is_an_infrastructure_fault(arena: MatchArena, tmp_path: Path) -> None:
    bots = [arena.bot("one"), arena.bot("two")]
    played: list[PlayedGame] = []

    with started_referee(tmp_path) as doomed:

        def sink(game: PlayedGame) -> None:
            played.append(game)
            doomed.process.kill()

        with pytest.raises(InfrastructureError, check=has_code("referee-lost")):
            play_match(arena.spec(bots, boards=100), doomed.address, bots, sink)
    assert [fault for game in played for fault in game.faulted] == []


def test_an_unknown_game_is_refused(arena: MatchArena) -> None:
    bots = [arena.bot("one"), arena.bot("two")]
    spec = replace(arena.spec(bots), options={"nonsense": True})
    with pytest.raises(ValueError, check=has_code("unknown-option")):
        arena.play(spec, bots)


@pytest.mark.long
@pytest.mark.usefixtures("unsandboxed")
def test_an_exception_of_the_sink_stops_the_match_and_its_processes(arena: MatchArena) -> None:
    class Enough(Exception):
        pass

    def sink(game: PlayedGame) -> None:
        raise Enough

    act = "Service.asked == 1 and open('pid', 'w').write(str(os.getpid()))"
    bots = [arena.bot("one", act), arena.bot("two")]
    with pytest.raises(Enough):
        play_match(arena.spec(bots), arena.referee.address, bots, sink)
    with pytest.raises(ProcessLookupError):
        os.kill(int((arena.folder / "one" / "pid").read_text()), 0)


@pytest.mark.long
@pytest.mark.usefixtures("unsandboxed")
def test_a_dead_sandbox_launcher_is_an_infrastructure_fault(arena: MatchArena) -> None:
    # The sandbox launcher is the grandparent process of the bot.
    act = (
        "stat = open(f'/proc/{os.getppid()}/stat').read(); "
        "os.kill(int(stat.rpartition(')')[2].split()[1]), 9); time.sleep(600)"
    )
    bots = [arena.bot("one", act), arena.bot("two")]
    played: list[PlayedGame] = []
    # The launcher's end is noticed by its reader, or by the request to restart the bot.
    lost = has_code("helper-lost", "launcher-lost")
    with pytest.raises(InfrastructureError, check=lost):
        play_match(arena.spec(bots), arena.referee.address, bots, played.append)
    assert played == []


@pytest.mark.long
def test_a_match_can_be_played_in_a_forked_process(arena: MatchArena) -> None:
    # RQ does the same: the parent process has all modules imported and no connections open.
    bots = [arena.bot("one"), arena.bot("two")]
    script = textwrap.dedent("""
        import os, pickle, sys
        from arena.matches.runner import play_match
        spec, address, bots = pickle.load(sys.stdin.buffer)
        for _ in range(2):
            if (pid := os.fork()) == 0:
                play_match(spec, address, bots, lambda game: print(game.game, flush=True))
                os._exit(0)
            os.waitpid(pid, 0)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps((arena.spec(bots, boards=1), arena.referee.address, bots)),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"0\n1\n0\n1\n"
    assert done.stderr == b""


def test_the_record_of_a_match_reads_back(finished: FinishedMatch) -> None:
    records = {game.game: game.record for game in finished.played.games}
    record = read(record_text(finished.spec, records, SEED))
    assert record.seed == SEED
    assert [game.number for game in record.games] == [0, 1, 2, 3]


def test_no_private_directory_is_left_when_a_match_is_over(finished: FinishedMatch) -> None:
    sockets = [
        Path(report.output.split("\n")[0].removeprefix("unix:"))
        for entrant, reports in finished.played.reports_received
        for report in reports
        if entrant == 0
    ]
    assert len(sockets) == 2
    assert not any(socket.parent.exists() for socket in sockets)


@pytest.mark.usefixtures("unsandboxed")
@pytest.mark.long
def test_the_stop_signal_of_a_worker_does_not_reach_its_bots(arena: MatchArena) -> None:
    # Ctrl-C in a terminal signals the whole foreground process group, which excludes the bots.
    bots = [arena.bot("one", "print(os.getpgid(0) == os.getpid(), flush=True)"), arena.bot("two")]
    played = arena.play(arena.spec(bots, boards=1), bots)
    outputs = [reports[0].output for entrant, reports in played.reports_received if entrant == 0]
    assert all(set(output.split()) == {"True"} for output in outputs)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

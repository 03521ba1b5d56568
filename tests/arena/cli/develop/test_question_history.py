"""Test `ask --from-start`, which replays all earlier questions of the table for stateful bots."""

from collections import defaultdict
from pathlib import Path

import pytest

from referee.record import read
from tests.arena.cli.terminal import Cli

pytestmark = pytest.mark.usefixtures("unsandboxed")

# Writes every Start request and question, serialized, and the process id to a file.
REMEMBERS = """
import os, time
from pokearena.v1 import bot_pb2
from pokearena_bot import run

class Bot:
    games_in_flight = {flight}

    def __init__(self):
        self.seen = 0

    def note(self, what):
        with open("{folder}/asked.txt", "a") as file:
            print(os.getpid(), what, file=file)

    def start(self, request):
        self.note(request.SerializeToString(deterministic=True).hex())

    def act(self, turn):
        self.seen += 1
        turn.clock.ClearField("last_ms")  # 0 in questions that are repeated from a record
        self.note(turn.SerializeToString(deterministic=True).hex())
        if self.seen % 5 == 0:
            time.sleep(0.06)
        {act}
        return turn.legal[self.seen % len(turn.legal)]

run(Bot)
"""


def write_stateful_bot(flight: int = 1, act: str = "pass") -> str:
    """Write a bot whose answers depend on the number of questions, and return its file name."""
    text = REMEMBERS.format(flight=flight, act=act, folder=Path.cwd())
    Path("remembers.py").write_text(text)
    return "remembers.py"


def questions_by_table() -> dict[str, list[str]]:
    """Return the logged requests by process, in the order in which the processes started."""
    by_process: dict[str, list[str]] = defaultdict(list)
    for line in Path("asked.txt").read_text().splitlines():
        process, what = line.split()
        by_process[process].append(what)
    return by_process


def play(cli: Cli, bot: str, boards: int) -> None:
    words = ("play", "poke", bot, "sample:random", "-n", boards, "--lenient", "--seed", 5)
    cli(*words, "--allowance", 30, "--bank", 20_000, "--record", "m.jsonl")


@pytest.mark.parametrize("flight", [3, pytest.param(1, marks=pytest.mark.repetition)])
@pytest.mark.long
def test_all_questions_are_sent_again_byte_by_byte_in_the_same_order(cli: Cli, flight: int) -> None:
    bot = write_stateful_bot(flight)
    play(cli, bot, boards=3)
    record = read(Path("m.jsonl").read_text())
    tables = list(questions_by_table().values())
    assert [game.result["verdicts"] for game in record.games] == [["finished"] * 2] * 6
    assert any(game.result["bank_ms"][0] for game in record.games)
    is_numbered = ["message" in line for game in record.games for line in game.actions]
    assert all(is_numbered) if flight > 1 else not any(is_numbered)
    for table, table_result in enumerate(tables):
        seat = table
        last = _last(record.games, table, seat)
        Path("asked.txt").unlink()
        result = cli("ask", f"m.jsonl:{last[0]}:{last[1]}", bot, "--from-start", "--json")
        (again,) = questions_by_table().values()
        assert again[1:] == table_result[1:]
        assert _without_clock(again[0]) == _without_clock(table_result[0])
        answer = result.json
        assert answer["before"] == len(table_result) - 2
        assert answer["differs"] is None
        assert answer["answer"] == answer["recorded"]


def _last(games: object, table: int, seat: int) -> tuple[int, int]:
    """Return game and decision of the last question to a seat at a table."""
    lines = [
        (line.get("message", [-1]), line["game"], line["decision"])
        for game in games  # type: ignore[attr-defined]
        if game.game["table"] == table
        for line in game.actions
        if line["seat"] == seat
    ]
    return max(lines)[1:]


def _without_clock(text: str) -> str:
    from pokearena.v1 import bot_pb2

    request = bot_pb2.StartRequest.FromString(bytes.fromhex(text))
    assert request.clock.bank_ms == 20_000
    return str(request)


@pytest.mark.long
def test_a_crash_that_depends_on_memory_happens_again(cli: Cli) -> None:
    bot = write_stateful_bot(act="self.seen == 9 and os._exit(3)")
    play(cli, bot, boards=3)
    record = read(Path("m.jsonl").read_text())
    first, second = [fault for game in record.games for fault in game.faults][:2]
    for fault in (first, second):
        question = f"m.jsonl:{fault['game']}:{fault['decision']}"
        assert cli("ask", question, bot).status == 0
        result = cli("ask", question, bot, "--from-start")
        assert result.status == 1
        # After the first crash, a new process received the questions without the earlier ones.
        assert "before  8 questions" in result.out
        assert "; its process exited with status 3" in result.out
    last = cli("ask", f"m.jsonl:0:{first['decision']}", "sample:meek", "--from-start")
    assert "the first different answer: game 1, decision " in last.out


@pytest.mark.long
def test_a_crash_at_an_earlier_question_is_reported_with_its_place(cli: Cli) -> None:
    play(cli, write_stateful_bot(), boards=1)
    game = read(Path("m.jsonl").read_text()).games[0]
    decision = [line["decision"] for line in game.actions if line["seat"] == 0][3]
    broken = write_stateful_bot(act="self.seen == 2 and os._exit(3)")
    result = cli("ask", f"m.jsonl:0:{decision}", broken, "--from-start")
    assert result.status == 1
    assert "no action: before it, at game 1, decision " in result.out


@pytest.mark.long
def test_debug_waits_without_a_time_limit(cli: Cli) -> None:
    play(cli, write_stateful_bot(), boards=1)
    slow = write_stateful_bot(act="time.sleep(0.3)")
    for words in ((), ("--from-start",)):
        words = ("ask", "m.jsonl:0:1", slow, "--patience", 0.1, *words)
        assert cli(*words).status == 1
        result = cli(*words, "--debug")
        assert result.status == 0
        assert "TOO LATE" not in result.out

"""`play --trace`: every message from and to the bots as JSON lines."""

import base64
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from pokearena.v1 import bot_pb2

from arena.bots.resolver import house_folder
from arena.cli.matches import message_trace
from referee.record import MatchRecord, read
from referee.rpc.trace import SeatTrace, TraceFile
from tests.arena.cli.terminal import Cli, Write
from tests.full_disk import largest_file

CRASHES = """
if turn.decision > 4:
    raise KeyError("4C")
return turn.legal[0]
"""
Trace = list[dict[str, Any]]
Answers = list[tuple[int, int, bytes]]


def trace() -> Trace:
    return [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]


def action(given: Any) -> bytes:
    return ParseDict(given, bot_pb2.Action()).SerializeToString(deterministic=True)


def traced_answers(lines: Trace) -> Answers:
    """Return the game, seat and action of each answer in a trace, sorted."""
    answers: Answers = []
    for line in lines:
        message = line.get("message")
        if message and line["direction"] == "received" and line["rpc"] in ("Act", "Play"):
            for game, answer in zip(line["games"], message.get("answers", [message]), strict=True):
                answers.append((game, line["seat"], action(answer["action"])))
    return sorted(answers)


def recorded_answers(record: MatchRecord) -> Answers:
    return sorted(
        (game.number, line["seat"], action(line["action"]))
        for game in record.games
        for line in game.actions
        if line.get("by") != "referee"
    )


@pytest.mark.long
def test_a_trace_has_every_message_with_its_time_bot_and_games(cli: Cli) -> None:
    words = ("play", "poke", "sample:meek", "sample:random", "-n", 2, "--record", "m.jsonl")
    assert cli(*words, "--trace", "t.jsonl").status == 0
    lines = trace()
    for table, seating in ((0, ["meek", "random"]), (1, ["random", "meek"])):
        for seat, bot in enumerate(seating):
            of_seat = [line for line in lines if (line["table"], line["seat"]) == (table, seat)]
            assert {line["bot"] for line in of_seat} == {bot}
            calls = [(line["direction"], line["rpc"]) for line in of_seat]
            assert calls[:2] == [("sent", "Start"), ("received", "Start")]
            assert calls[-2:] == [("sent", "End"), ("received", "End")]
            assert of_seat[0]["message"]["seat"] == seat
    assert traced_answers(lines) == recorded_answers(read(Path("m.jsonl").read_text()))
    times = [line["ms"] for line in lines]
    assert times[0] == 0
    assert times == sorted(times)
    assert all(datetime.fromisoformat(line["time"]).utcoffset() is not None for line in lines)
    assert [path.name for path in Path().iterdir() if path.name.startswith(".pokearena-")] == []


@pytest.mark.long
def test_a_bot_that_uses_lines_is_traced_too(cli: Cli) -> None:
    shell = house_folder().parent / "shell"
    words = ("play", "poke", shell, "sample:meek", "--lenient", "--record", "m.jsonl")
    assert cli(*words, "--allowance", 60_000, "--trace", "t.jsonl").status == 0
    lines = trace()
    assert "random-shell" in {line["bot"] for line in lines}
    assert traced_answers(lines) == recorded_answers(read(Path("m.jsonl").read_text()))


@pytest.mark.long
def test_a_call_without_an_answer_is_in_the_trace_with_its_error(cli: Cli, bot: Write) -> None:
    result = cli("play", "poke", bot("crasher", CRASHES), "sample:meek", "--trace", "t.jsonl")
    assert result.status == 1
    assert result.out.startswith("bot ")
    failed = next(line for line in trace() if "error" in line)
    assert failed["bot"] == "crasher"
    assert failed["games"] == [0]
    assert "message" not in failed


def test_a_trace_that_cannot_be_written_is_reported_before_the_first_game(cli: Cli) -> None:
    result = cli("play", "poke", "sample:meek", "sample:meek", "--trace", "nowhere/t.jsonl")
    assert (result.status, result.out) == (1, "")
    assert isinstance(result.error, OSError)
    assert "nowhere/t.jsonl" in result.err


@pytest.mark.long
def test_a_disk_that_becomes_full_loses_the_trace_but_not_the_result(cli: Cli) -> None:
    Path("t.jsonl").write_text("before")
    with largest_file(100_000):
        result = cli("play", "poke", "sample:meek", "sample:meek", "--trace", "t.jsonl", "--json")
    assert result.status == 1
    assert "t.jsonl" in result.err
    assert Path(result.json["record"]).is_file()
    assert Path("t.jsonl").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == [".pokearena", "t.jsonl"]


def test_the_file_of_a_trace_is_complete_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "messages"
    file = TraceFile(path)
    seat = SeatTrace(file, 0, 1)
    seat.write("sent", "Act", b"one")
    (line,) = map(json.loads, path.read_text().splitlines())
    assert (line["table"], line["seat"], base64.b64decode(line["data"])) == (0, 1, b"one")
    with largest_file(path.stat().st_size + 10):
        seat.write("sent", "Act", b"two")
    seat.write("sent", "Act", b"three")
    file.close()
    assert not path.exists()


def test_a_message_that_is_not_valid_is_in_the_trace_as_bytes() -> None:
    line = {"time": 0.0, "clock": 5.0, "table": 0, "seat": 1, "rpc": "Play"}
    question = bot_pb2.PlayRequest(questions=[bot_pb2.ActRequest(game=7)]).SerializeToString()
    stored = [
        line | {"direction": "sent", "data": base64.b64encode(question).decode()},
        line | {"clock": 5.25, "direction": "received", "data": base64.b64encode(b"\xff").decode()},
    ]
    sent, received = message_trace.lines(iter(stored), {0: ["ann", "bob"]})
    assert (sent["bot"], sent["games"], sent["ms"]) == ("bob", [7], 0)
    assert (received["games"], received["ms"]) == ([7], 250)
    assert base64.b64decode(received["invalid"]) == b"\xff"
    assert "message" not in received

"""`why`: a defeat explained, with a real bot for every verdict and exactly what is said of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.records.redaction import published
from tests.arena.cli.terminal import Cli, Write

LATE = "if turn.decision > 2:\n    time.sleep(20)\nreturn turn.legal[0]"
CHEAT = (
    "print('my cards:', *turn.view.poke.hand)\n"
    "action = bot_pb2.Action()\naction.poke.lead.cards.append('2C')\nreturn action"
)
FLOOD = (
    "import os\nfor _ in range(9000):\n    os.write(1, b'x' * 1023 + b'\\n')\nreturn turn.legal[0]"
)


def lost(cli: Cli, bot: str, *words: object) -> str:
    """The match in which a bot fails; it sits in seat 0 first, and is asked at decision 1."""
    said = cli("play", "poke", bot, "sample:meek", "--seed", 3, "--record", "m.jsonl", *words)
    assert said.status == 1
    return "m.jsonl"


def fault(cli: Cli, match: str) -> dict[str, Any]:
    """What programs are told of the one fault of a match."""
    told = json.loads(cli("why", match, "--json").out)
    (found,) = told["faults"]
    assert isinstance(found, dict)
    return found


def blocks(text: str) -> Mapping[str, str]:
    """What people are told of a fault, by the word it stands behind."""
    told: dict[str, str] = {}
    word = ""
    for line in text.rstrip().splitlines()[1:]:
        word = line[2:11].strip() or word
        told[word] = f"{told[word]}\n{line[11:]}" if word in told else line[11:]
    return told


def test_of_a_bot_that_does_not_start_it_is_told_how_it_ended_and_what_it_said(cli: Cli) -> None:
    Path("broken.py").write_text("print('hello')\nimport nothing_of_this_name\n")
    told = fault(cli, lost(cli, "broken.py"))
    assert (told["verdict"], told["ended"], told["exit_status"], told["signal"]) == (
        "init",
        "exited with status 1",
        1,
        None,
    )
    assert told["sentence"] == (
        "seat 0: did not start: it was not listening yet; its process exited with status 1"
    )
    assert (told["question"], told["asks"], told["position"], told["legal"]) == (None, None, [], [])
    assert 0 < told["clock"]["ms"] < told["clock"]["limit_ms"] == 10_000
    assert told["peak_memory"] > 2 << 20
    assert told["output"].startswith("hello\nTraceback")
    assert "nothing_of_this_name" in told["output"]
    said = cli("why", "m.jsonl")
    words = blocks(said.out)
    assert said.out.startswith("broken: init\n")
    assert words["where"] == "game 0 (table 0, board 0), before its first decision, seat 0"
    assert words["clock"].endswith(" ms of the 10000 ms it has to start")
    assert words["process"].startswith("exited with status 1; peak memory ")
    assert "again" not in words
    assert said.last == "next  pokearena replay m.jsonl --game 0"


def test_of_a_bot_that_is_late_its_clock_is_told_and_what_it_thought_about(
    cli: Cli, bot: Write
) -> None:
    told = fault(cli, lost(cli, bot("late", LATE), "--allowance", 80, "--bank", 60))
    assert (told["verdict"], told["ended"], told["exit_status"]) == ("timeout", None, None)
    clock = told["clock"]
    assert clock["allowance_ms"] == told["question"]["clock"]["allowanceMs"] == 80
    assert clock["limit_ms"] == 80 + clock["bank_ms"] <= 140
    assert clock["ms"] >= clock["limit_ms"]
    assert told["peak_memory"] > 2 << 20
    said = cli("why", "m.jsonl")
    words = blocks(said.out)
    assert "80 ms for a decision and " in words["clock"]
    assert words["process"].startswith("ran on; peak memory ")
    assert words["legal"] == " | ".join(told["legal"])
    asked = f"m.jsonl:0:{told['decision']}"
    assert words["again"] == f"pokearena ask {asked} ."
    assert said.err.splitlines()[-2:] == [
        f"next  pokearena ask {asked} .",
        "      pokearena replay m.jsonl --game 0",
    ]


def test_of_an_answer_that_is_not_legal_it_is_told_beside_the_hand_and_what_was(
    cli: Cli, bot: Write
) -> None:
    told = fault(cli, lost(cli, bot("cheat", CHEAT)))
    assert told["verdict"] == "illegal"
    assert told["answer"] == {"poke": {"lead": {"cards": ["2C"]}}}
    assert told["answered"] == "lead 2C"
    assert told["clock"]["ms"] < told["clock"]["limit_ms"]
    hand = " ".join(told["question"]["view"]["poke"]["hand"])
    words = blocks(cli("why", "m.jsonl").out)
    assert words["answer"] == "lead 2C"
    assert f"hand: {hand}" in words["seen"]
    assert "hand: ▒▒ ▒▒ ▒▒ ▒▒ ▒▒" in words["seen"]
    assert words["output"] == f"my cards: {hand}"
    assert words["legal"].startswith("stand | draw ")
    assert words["legal"].endswith("in all") or len(told["legal"]) <= 24


def test_of_an_answer_that_is_none_it_is_told_what_is_wrong_with_it(cli: Cli, bot: Write) -> None:
    told = fault(cli, lost(cli, bot("empty", "return bot_pb2.Action()")))
    assert (told["verdict"], told["answer"], told["ended"]) == ("protocol", {}, None)
    assert "its answer holds no action" in told["sentence"]
    assert told["question"]["legal"]


def test_of_a_bot_that_dies_the_signal_its_memory_and_its_last_words_are_told(
    cli: Cli, bot: Write
) -> None:
    size = 96 << 20
    dies = bot(
        "dies",
        f"import os, signal\nheld = b'x' * {size}\nprint('oh no', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)",
    )
    told = fault(cli, lost(cli, dies))
    assert (told["verdict"], told["ended"]) == ("crash", "was killed by SIGSEGV")
    assert (told["signal"], told["exit_status"]) == ("SIGSEGV", None)
    assert size < told["peak_memory"] < 2 * size
    assert told["output"] == "oh no\n"
    assert blocks(cli("why", "m.jsonl").out)["process"].startswith("was killed by SIGSEGV; peak")


def test_of_a_bot_that_writes_too_much_the_last_64_kb_are_kept(cli: Cli, bot: Write) -> None:
    told = fault(cli, lost(cli, bot("flood", FLOOD)))
    assert told["verdict"] == "resources"
    assert told["ended"] == "was stopped by the arena: wrote more than 8 MiB of output"
    assert told["output"] == ("x" * 1023 + "\n") * 64
    said = cli("why", "m.jsonl").out
    assert "(the last 40 of 64 lines; --json prints all)" in said


def test_one_fault_is_told_by_its_place_and_those_of_a_seat_by_the_bot(
    cli: Cli, bot: Write
) -> None:
    words = ("play", "poke", bot("cheat", CHEAT), bot("empty", "return bot_pb2.Action()"))
    assert cli(*words, "-n", 2, "--lenient", "--seed", 3, "--record", "m.jsonl").status == 0
    faults = json.loads(cli("why", "m.jsonl", "--json").out)["faults"]
    assert {one["bot"] for one in faults} == {"cheat", "empty"}
    one = faults[-1]
    place = f"m.jsonl:{one['game']}:{one['decision']}"
    assert json.loads(cli("why", place, "--json").out)["faults"] == [one]
    own = json.loads(cli("why", "m.jsonl", "--seat", "cheat", "--json").out)["faults"]
    assert own == [one for one in faults if one["bot"] == "cheat"]
    assert cli("why", "m.jsonl", "--seat", "cheet").status == 2
    assert cli("why", "m.jsonl", "--seat", 2).status == 2
    nothing = cli("why", "m.jsonl:0:999")
    assert nothing.status == 2
    assert nothing.code == "unknown-fault"


@pytest.mark.long
def test_games_lost_because_of_a_fault_in_another_are_told(cli: Cli, bot: Write) -> None:
    dies = bot("dies", "import os\nos._exit(3)")
    words = ("play", "poke", dies, "sample:meek", "-n", 4, "--lenient", "--seed", 3)
    assert cli(*words, "--record", "m.jsonl").status == 0
    told = json.loads(cli("why", "m.jsonl", "--json").out)
    by_fault = {one["game"] for one in told["faults"]}
    after = {one["verdict"]: one["games"] for one in told["aftermath"]}
    assert sorted([*by_fault, *(game for games in after.values() for game in games)]) == [*range(8)]
    lines = cli("why", "m.jsonl").out.splitlines()
    for verdict, games in after.items():
        listed = ", ".join(map(str, games))
        word = "games" if len(games) > 1 else "game"
        assert f"dies: {verdict} in {word} {listed} too, because of a fault in another" in lines


@pytest.mark.long
def test_of_many_boards_the_ten_worst_are_shown_the_worst_first(cli: Cli) -> None:
    words = ("sample:greedy", "sample:random", "-n", 12, "--seed", 0, "--record", "m.jsonl")
    assert cli("play", "saint_poker", *words).status == 0
    lines = cli("why", "m.jsonl").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("board")) + 1
    shown = [line.split() for line in lines[first : first + 10]]
    boards = {b["board"]: b for b in json.loads(cli("why", "m.jsonl", "--json").out)["boards"]}
    assert len(boards) == 12
    for number, greedy, random, *games in shown:
        assert boards[int(number)]["games"] == [int(game) for game in games]
        assert boards[int(number)]["points"] == [int(greedy), int(random)]
    assert lines[0].endswith(f"worst on board {shown[0][0]}: {shown[0][2]} against {shown[0][1]}")
    assert lines[first + 10] == "(the 10 worst of 12 boards for random; --json prints all)"


def test_without_a_fault_the_boards_tell_where_it_was_lost_and_how_long_bots_thought(
    cli: Cli, played: Path
) -> None:
    said = cli("why", played)
    assert said.status == 0
    assert ": no faults; random lost it with 0 % of its games; worst on board 0: " in said.out
    told = json.loads(cli("why", played, "--json").out)
    assert told["faults"] == []
    assert [board["games"] for board in told["boards"]] == [[0, 1]]
    lines = [json.loads(line) for line in played.read_text().splitlines()]
    seating = {line["game"]: line["seating"] for line in lines if line["type"] == "game"}
    for of in told["bots"]:
        times = sorted(
            (line["ms"], line["game"], line["decision"])
            for line in lines
            if line["type"] == "action" and seating[line["game"]][line["seat"]] == of["bot"]
        )
        thinking, slowest = of["thinking"], of["thinking"]["slowest"]
        assert thinking["decisions"] == len(times)
        for share in (50, 95, 99):
            at = -(-share * len(times) // 100) - 1
            assert thinking[f"p{share}_ms"] == times[at][0]
        assert (slowest["ms"], slowest["game"], slowest["decision"]) == times[-1]
        assert slowest["question"] == f"{lines[0]['match']}:{times[-1][1]}:{times[-1][2]}"
        assert slowest["question"] in said.out


def test_a_record_as_all_may_see_it_explains_what_it_can(cli: Cli, bot: Write) -> None:
    lost(cli, bot("cheat", CHEAT))
    Path("public.jsonl").write_text(published(Path("m.jsonl").read_text()))
    told = fault(cli, "public.jsonl")
    assert told["verdict"] == "illegal"
    assert told["clock"]["limit_ms"] > 0
    for own in ("question", "answer", "ended", "exit_status", "signal", "peak_memory", "asks"):
        assert told[own] is None
    assert told["output"] == ""
    assert blocks(cli("why", "public.jsonl").out)["process"] == "not known"


@pytest.mark.parametrize("match", ["nofile.jsonl", "m-0000000000"])
def test_a_match_that_is_not_there_is_wrong_usage(cli: Cli, match: str) -> None:
    assert cli("why", match).status == 2

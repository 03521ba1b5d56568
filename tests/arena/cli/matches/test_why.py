"""`why` explains a defeat: a real bot for every verdict, with the complete output."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.cli.workspace import Workspace
from arena.records.published_faults import public_record
from tests.arena.cli.terminal import Cli, Write
from tests.arena.stored_analysis import store_analysis, stored_analysis
from tests.arena.web.closed_matches import play, table

LATE = "time.sleep(20)\nreturn turn.legal[0]"
CHEAT = (
    "print('my cards:', *turn.view.poke.hand)\n"
    "action = bot_pb2.Action()\naction.poke.lead.cards.append('2C')\nreturn action"
)
FLOOD = (
    "import os\nfor _ in range(9000):\n    os.write(1, b'x' * 1023 + b'\\n')\nreturn turn.legal[0]"
)


def failed_match(cli: Cli, bot: str, *words: object) -> str:
    """Play a match in which a bot fails at its first decision, which no other one precedes.

    Returns:
        The name of the record.
    """
    result = cli("play", "poke", bot, "sample:meek", "--seed", 0, "--record", "m.jsonl", *words)
    assert result.status == 1
    return "m.jsonl"


def fault(cli: Cli, match: str) -> dict[str, Any]:
    """Return the only fault of a match from the JSON output."""
    document = cli("why", match, "--json").json
    (only_fault,) = document["faults"]
    assert isinstance(only_fault, dict)
    return only_fault


def blocks(text: str) -> Mapping[str, str]:
    """Return the parts of the text output by their headings."""
    reasons: dict[str, str] = {}
    word = ""
    for line in text.rstrip().splitlines()[1:]:
        word = line[2:11].strip() or word
        reasons[word] = f"{reasons[word]}\n{line[11:]}" if word in reasons else line[11:]
    return reasons


def test_why_describes_a_bot_that_does_not_start(cli: Cli) -> None:
    Path("broken.py").write_text("print('hello')\nimport nothing_of_this_name\n")
    details = fault(cli, failed_match(cli, "broken.py"))
    assert (
        details["verdict"],
        details["ended"],
        details["exit_status"],
        details["signal"],
    ) == (
        "init",
        "exited with status 1",
        1,
        None,
    )
    assert details["sentence"] == (
        "seat 0: did not start: it was not listening yet; its process exited with status 1"
    )
    assert (
        details["question"],
        details["asks"],
        details["position"],
        details["legal"],
    ) == (None, None, [], [])
    assert 0 < details["clock"]["ms"] < details["clock"]["limit_ms"] == 10_000
    assert details["peak_memory"] > 2 << 20
    assert details["output"].startswith("hello\nTraceback")
    assert "nothing_of_this_name" in details["output"]
    result = cli("why", "m.jsonl")
    words = blocks(result.out)
    assert result.out.startswith("broken: init\n")
    assert words["where"] == "game 1 (table 1, board 1), before its first decision, seat 1"
    assert words["clock"].endswith(" ms of the 10000 ms it has to start")
    assert words["process"].startswith("exited with status 1; peak memory ")
    assert "again" not in words
    assert result.last == "next  pokearena replay m.jsonl --game 0"


def test_why_describes_the_clock_and_the_question_of_a_timeout(cli: Cli, bot: Write) -> None:
    details = fault(cli, failed_match(cli, bot("late", LATE), "--allowance", 80, "--bank", 60))
    assert (details["verdict"], details["ended"], details["exit_status"]) == (
        "timeout",
        None,
        None,
    )
    clock = details["clock"]
    assert clock["allowance_ms"] == details["question"]["clock"]["allowanceMs"] == 80
    assert clock["limit_ms"] == 80 + clock["bank_ms"] == 140
    assert clock["ms"] >= clock["limit_ms"]
    assert details["peak_memory"] > 2 << 20
    result = cli("why", "m.jsonl")
    words = blocks(result.out)
    decision = details["decision"]
    assert details["sentence"].startswith(f"game 0, decision {decision}: ")
    assert words["fault"].startswith(f"game 1, decision {decision + 1}: ")
    assert words["where"].startswith("game 1 (table 1, board 1), decision ")
    assert "80 ms for a decision and " in words["clock"]
    assert words["process"].startswith("ran on; peak memory ")
    *listed, rest = words["legal"].split(" | ")
    assert listed == details["legal"][: len(listed)]
    assert rest == f"... {len(details['legal'])} in all"
    question = f"m.jsonl:0:{details['decision']}"
    assert words["again"] == f"pokearena ask {question} ."
    assert result.err.splitlines()[-2:] == [
        f"next  pokearena ask {question} .",
        "      pokearena replay m.jsonl --game 0",
    ]


def test_why_describes_an_illegal_action_with_hand_and_legal_actions(cli: Cli, bot: Write) -> None:
    details = fault(cli, failed_match(cli, bot("cheat", CHEAT)))
    assert details["verdict"] == "illegal"
    assert details["answer"] == {"poke": {"lead": {"cards": ["2C"]}}}
    assert details["answered"] == "lead 2C"
    assert details["clock"]["ms"] < details["clock"]["limit_ms"]
    hand = " ".join(details["question"]["view"]["poke"]["hand"])
    words = blocks(cli("why", "m.jsonl").out)
    assert words["answer"] == "lead 2C"
    assert f"hand: {hand}" in words["seen"]
    assert "hand: ▒▒ ▒▒ ▒▒ ▒▒ ▒▒" in words["seen"]
    assert words["output"] == f"my cards: {hand}"
    assert words["legal"].startswith("stand | draw ")
    assert words["legal"].endswith("in all") or len(details["legal"]) <= 24


def test_why_describes_signal_memory_and_output_of_a_crash(cli: Cli, bot: Write) -> None:
    size = 96 << 20
    dies = bot(
        "dies",
        f"import os, signal\nheld = b'x' * {size}\nprint('oh no', flush=True)\n"
        "signal.raise_signal(signal.SIGSEGV)",
    )
    details = fault(cli, failed_match(cli, dies))
    assert (details["verdict"], details["ended"]) == (
        "crash",
        "was killed by SIGSEGV",
    )
    assert (details["signal"], details["exit_status"]) == ("SIGSEGV", None)
    assert size < details["peak_memory"] < 2 * size
    assert details["output"] == "oh no\n"
    assert blocks(cli("why", "m.jsonl").out)["process"].startswith("was killed by SIGSEGV; peak")


@pytest.mark.long
def test_why_prints_the_last_64_kb_of_output(cli: Cli, bot: Write) -> None:
    details = fault(cli, failed_match(cli, bot("flood", FLOOD)))
    assert details["verdict"] == "resources"
    assert details["ended"] == "was stopped by the arena: wrote more than 8 MiB of output"
    assert details["output"] == ("x" * 1023 + "\n") * 64
    output = cli("why", "m.jsonl").out
    assert "(the last 40 of 64 lines; --json prints all)" in output


def test_why_selects_a_fault_by_question_or_by_seat(cli: Cli, bot: Write) -> None:
    words = ("play", "poke", bot("cheat", CHEAT), bot("empty", "return bot_pb2.Action()"))
    assert cli(*words, "-n", 2, "--lenient", "--seed", 3, "--record", "m.jsonl").status == 0
    faults = cli("why", "m.jsonl", "--json").json["faults"]
    assert {row["bot"] for row in faults} == {"cheat", "empty"}
    latest = faults[-1]
    place = f"m.jsonl:{latest['game']}:{latest['decision']}"
    assert cli("why", place, "--json").json["faults"] == [latest]
    faults_of_seat = cli("why", "m.jsonl", "--seat", "cheat", "--json").json["faults"]
    assert faults_of_seat == [row for row in faults if row["bot"] == "cheat"]
    assert cli("why", "m.jsonl", "--seat", "cheet").status == 2
    assert cli("why", "m.jsonl", "--seat", 2).status == 2
    nothing = cli("why", "m.jsonl:0:999")
    assert nothing.status == 2
    assert nothing.code == "unknown-fault"
    # The named faults can be typed, also if the file is not in the data folder.
    assert place in nothing.err


@pytest.mark.long
def test_why_lists_games_lost_because_of_a_fault_in_another(cli: Cli, bot: Write) -> None:
    dies = bot("dies", "import os\nos._exit(3)")
    words = ("play", "poke", dies, "sample:meek", "-n", 4, "--lenient", "--seed", 3)
    assert cli(*words, "--record", "m.jsonl").status == 0
    document = cli("why", "m.jsonl", "--json").json
    by_fault = {row["game"] for row in document["faults"]}
    after = {row["verdict"]: row["games"] for row in document["aftermath"]}
    assert sorted([*by_fault, *(game for games in after.values() for game in games)]) == [*range(8)]
    lines = cli("why", "m.jsonl").out.splitlines()
    for verdict, games in after.items():
        listed = ", ".join(map(str, games))
        word = "games" if len(games) > 1 else "game"
        assert f"dies: {verdict} in {word} {listed} too, because of a fault in another" in lines


@pytest.mark.long
def test_why_shows_the_ten_worst_boards_in_order(cli: Cli) -> None:
    words = ("sample:greedy", "sample:random", "-n", 12, "--seed", 0, "--record", "m.jsonl")
    assert cli("play", "saint_poker", *words).status == 0
    lines = cli("why", "m.jsonl").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("board")) + 1
    shown = [line.split() for line in lines[first : first + 10]]
    boards = {b["board"]: b for b in cli("why", "m.jsonl", "--json").json["boards"]}
    assert len(boards) == 12
    for number, greedy, random, *games in shown:
        board = boards[int(number) - 1]
        assert board["games"] == [int(game) - 1 for game in games]
        assert board["points"] == [int(greedy), int(random)]
    assert lines[0].endswith(
        f"its worst board is {shown[0][0]}: {shown[0][2]} against {shown[0][1]}"
    )
    assert lines[first + 10] == "(the 10 worst of 12 boards for random; --json prints all)"


def test_why_without_faults_shows_lost_boards_and_decision_times(cli: Cli, played: Path) -> None:
    result = cli("why", played)
    assert result.status == 0
    assert ": no faults; random lost with 0 % of the games; its worst board is 1: " in result.out
    document = cli("why", played, "--json").json
    assert document["faults"] == []
    assert [board["games"] for board in document["boards"]] == [[0, 1]]
    lines = [json.loads(line) for line in played.read_text().splitlines()]
    seating = {line["game"]: line["seating"] for line in lines if line["type"] == "game"}
    for of in document["bots"]:
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
        assert slowest["question"] in result.out


@pytest.mark.long
def test_why_shows_the_stored_analysis_of_a_defeat_without_faults(cli: Cli) -> None:
    store = Workspace().store
    match = play(Workspace(), table("poke-2-must_beat=true")).match
    assert cli("why", match, "--json").json["analysis"] is None
    assert f"pokearena analyse {match}" in cli("why", match).err
    store_analysis(store, match)
    assert cli("why", match, "--json").json["analysis"] == stored_analysis()
    costly = next(
        line.split()
        for line in cli("why", match, "--seat", "luck1").out.splitlines()
        if "1:3" in line
    )
    assert costly == f"{match}:1:3 leads 4C leads 5C 0.70 0.40 0.30 ± 0.04".split()
    assert "1:3" not in cli("why", match, "--seat", "luck0").out
    assert "pokearena analyse" not in cli("why", match).err


def test_why_explains_a_redacted_record(cli: Cli, bot: Write) -> None:
    failed_match(cli, bot("cheat", CHEAT))
    Path("public.jsonl").write_text(public_record(Path("m.jsonl").read_text()))
    details = fault(cli, "public.jsonl")
    assert details["verdict"] == "illegal"
    assert details["clock"]["limit_ms"] > 0
    for private_field in (
        "question",
        "answer",
        "ended",
        "exit_status",
        "signal",
        "peak_memory",
        "asks",
    ):
        assert details[private_field] is None
    assert details["output"] == ""
    assert blocks(cli("why", "public.jsonl").out)["process"] == "not known"


@pytest.mark.parametrize("match", ["nofile.jsonl", "m-0000000000"])
def test_an_unknown_match_is_a_usage_error(cli: Cli, match: str) -> None:
    assert cli("why", match).status == 2

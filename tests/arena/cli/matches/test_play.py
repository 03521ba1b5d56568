"""`pokearena play`: matches of an author's bots on their own machine."""

import os
import re
import signal
from pathlib import Path

import pytest

from referee.games.shared.dealing import commitment
from referee.record import read
from tests.arena.cli.terminal import Cli, Write, in_a_terminal, running
from tests.full_disk import largest_file

ILLEGAL = """
if turn.decision > 4:
    return bot_pb2.Action(poke=bot_pb2.Action().poke.__class__(lead={"cards": ["AS", "2S"]}))
return turn.legal[0]
"""
CRASHES = """
if turn.decision > 4:
    print("last words")
    raise KeyError("4C")
return turn.legal[0]
"""
OTHER_ENCODING = """
import sys
for number, line in enumerate(sys.stdin, 1):
    answer = b"0\\n"
    if number >= {from_question}:
        answer = "\\ufeff0\\r\\n".encode("{encoding}")
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
"""
"""A program that writes a byte order mark and another encoding from a question on."""


def test_a_match_plays_every_seating_and_prints_a_row_per_bot(cli: Cli) -> None:
    result = cli("play", "poke", "sample:random", "sample:meek", "-n", 2, "--seed", "friday")
    assert result.status == 0
    head, *rows = result.out.splitlines()
    assert head.split()[:6] == ["bot", "games", "won", "drawn", "lost", "points"]
    assert [row.split()[:2] for row in rows] == [["random", "4"], ["meek", "4"]]
    assert "seed friday" in result.err
    (record,) = Path(".pokearena/plays").glob("m-*.jsonl")
    assert result.last == f"next  pokearena replay {record.stem}"


@pytest.mark.long
def test_equal_seeds_give_equal_matches_and_0_is_a_seed(cli: Cli) -> None:
    words = ("play", "poke", "sample:random", "sample:meek", "--json", "--seed")
    first, second, other = (cli(*words, seed).json for seed in ("0", "0", "1"))
    keys = ("match", "games", "seed", "commitment")
    assert [first[name] for name in keys] == [second[name] for name in keys]
    assert first["seed"] != other["seed"]
    assert first["games"] != other["games"]


@pytest.mark.long
def test_a_seed_of_64_hexadecimal_digits_is_used_directly(cli: Cli) -> None:
    seed = "0f" * 32
    document = cli("play", "poke", "sample:meek", "sample:meek", "--json", "--seed", seed).json
    assert document["seed"] == seed
    assert document["commitment"] == commitment(bytes.fromhex(seed))
    assert [bot["bot"] for bot in document["bots"]] == ["meek", "meek-2"]


def test_watch_prints_every_deal_with_notes_and_times(cli: Cli, bot: Write) -> None:
    talker = bot("talker", 'return turn.legal[0], "hm\\x1b[2J\\nwell"')
    result = cli("play", "poke", talker, "sample:meek", "--watch", "--seed", "1")
    assert result.status == 0
    assert "Deal 1 · " in result.out
    assert "Deal 2 · " in result.out
    assert " ms  “hm\\x1b[2J well”" in result.out
    assert "result: " in result.out
    assert "\x1b" not in result.out


@pytest.mark.long
def test_watch_draws_the_pokino_table_after_every_placement(cli: Cli) -> None:
    result = cli("play", "pokino", "sample:greedy", "sample:random", "--watch", "--seed", "7")
    lines = result.out.splitlines()
    laid = [number for number, line in enumerate(lines) if "  domino " in line]
    assert len(laid) > 10
    # The heading, the numbers of the columns, and the upper edge of a domino.
    assert all("┌" in lines[number + 3] for number in laid)


def test_watch_and_json_exclude_each_other(cli: Cli) -> None:
    result = cli("play", "poke", "sample:meek", "sample:meek", "--watch", "--json")
    assert result.status == 2


def test_the_first_illegal_action_stops_and_is_explained(cli: Cli, bot: Write) -> None:
    result = cli("play", "poke", bot("cheat", ILLEGAL), "sample:meek", "--seed", "1")
    assert result.status == 1
    assert "fault   cheat: illegal" in result.out
    assert 'it answered "lead AS 2S", which is not legal; legal: ' in result.out
    assert "hand    " in result.out
    match = next(Path(".pokearena/plays").glob("m-*.jsonl")).stem
    assert result.last.startswith(f"next  pokearena ask {match}:0:")
    assert result.last.endswith(" cheat.py")


def test_a_crash_is_explained_with_the_last_output_of_the_bot(cli: Cli, bot: Write) -> None:
    result = cli("play", "poke", bot("crasher", CRASHES), "sample:meek", "--seed", "1")
    assert result.status == 1
    assert "fault   crasher: crash" in result.out
    assert "exited with status 1" in result.out
    assert "last words" in result.out
    assert "KeyError: '4C'" in result.out
    assert "legal   " in result.out
    assert "stopped after 1 of 2 games; --lenient plays on." in result.err


@pytest.mark.long
@pytest.mark.parametrize(
    ("encoding", "from_question", "verdict"),
    [
        ("utf-16-le", 1, "init"),
        ("utf-16-be", 4, "protocol"),
        ("utf-8", 1, "init"),
        *(
            pytest.param(*case, marks=pytest.mark.repetition)
            for case in [
                ("utf-16-le", 4, "protocol"),
                ("utf-16-be", 1, "init"),
                ("utf-8", 4, "protocol"),
            ]
        ),
    ],
)
def test_a_bot_whose_output_is_in_another_encoding_loses_with_a_fault_that_names_it(
    cli: Cli, cwd: Path, encoding: str, from_question: int, verdict: str
) -> None:
    folder = cwd / "windows"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "windows"\nrun = ["python", "-u", "bot.py"]\ntransport = "stdio"\n'
    )
    (folder / "bot.py").write_text(
        OTHER_ENCODING.format(encoding=encoding, from_question=from_question)
    )
    result = cli("play", "poke", "windows", "sample:meek", "--json")
    assert result.status == 1
    fault = result.json["fault"]
    assert (fault["bot"], fault["verdict"]) == ("windows", verdict)
    assert {"UTF-16", "UTF-8"} <= set(re.findall(r"UTF-\d+", fault["sentence"]))


@pytest.mark.long
def test_lenient_counts_faults_and_continues(cli: Cli, bot: Write) -> None:
    cheat = bot("cheat", ILLEGAL)
    words = ("play", "poke", cheat, "sample:meek", "-n", 2, "--lenient", "--json")
    result = cli(*words)
    assert result.status == 0
    document = result.json
    assert document["complete"]
    assert len(document["games"]) == 4
    assert [row["faults"] > 0 for row in document["bots"]] == [True, False]


@pytest.mark.long
def test_the_record_is_written_to_the_given_path(cli: Cli) -> None:
    result = cli("play", "poke", "sample:meek", "sample:meek", "--record", "here.jsonl")
    assert result.last == "next  pokearena replay here.jsonl"
    assert len(read(Path("here.jsonl").read_text()).games) == 2
    assert cli("verify", "here.jsonl").status == 0
    (kept,) = Path(".pokearena/plays").iterdir()
    assert kept.read_text() == Path("here.jsonl").read_text()


@pytest.mark.parametrize("words", [("--record", "nowhere/m.jsonl"), ("--data", "file/data")])
def test_a_record_that_cannot_be_written_is_reported_before_the_first_game(
    cli: Cli, cwd: Path, words: tuple[str, ...]
) -> None:
    (cwd / "file").touch()
    result = cli("play", "poke", "sample:meek", "sample:meek", "--json", *words)
    assert (result.status, result.out) == (1, "")
    assert isinstance(result.error, OSError)
    assert words[1] in result.error.filename
    assert len(result.err.splitlines()) == 1


def test_a_full_disk_is_reported_before_the_first_game(cli: Cli) -> None:
    Path("data").mkdir()
    with largest_file(1000):
        result = cli("play", "poke", "sample:meek", "sample:meek", "--data", "data")
    assert (result.status, result.out) == (1, "")
    assert isinstance(result.error, OSError)
    assert not list(Path("data/plays").iterdir())


@pytest.mark.long
def test_the_result_is_printed_if_the_record_cannot_be_written(cwd: Path) -> None:
    folder = cwd / "records"
    folder.mkdir()
    words = ["sample:meek", "sample:meek", "-n", "5000", "--watch", "--record", "records/m.jsonl"]
    with running("play", "poke", *words) as (process, out, err):
        out.readline()
        folder.rmdir()
        os.kill(process.pid, signal.SIGINT)
        printed = out.read().splitlines()
        stderr = err.read()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "records/m.jsonl" in stderr
    assert [line.split()[0] for line in printed[-3:]] == ["bot", "meek", "meek-2"]


@pytest.mark.long
def test_an_option_of_the_game_is_in_the_record(cli: Cli) -> None:
    words = ("play", "poke", "sample:meek", "sample:meek", "--option", "must_beat=false")
    assert cli(*words, "--json").json["options"] == {"must_beat": False}


def test_invalid_arguments_are_refused_before_any_process_starts(cli: Cli) -> None:
    meek = "sample:meek"
    for words, sentence in (
        (("pokee", meek, meek), 'did you mean "poke"?'),
        (("poke", meek), "poke needs 2 bots"),
        (("saint_poker", *[meek] * 6), "saint_poker needs 2, 3, 4 or 5 bots"),
        (("poke", meek, "sample:meak"), 'did you mean "meek"?'),
        (("poke", meek, "nobody"), '"nobody"'),
        (("poke", meek, meek, "--option", "must_bet=true"), 'did you mean "must_beat"?'),
        (("poke", meek, meek, "--option", "must_beat=perhaps"), "it must be true or false"),
        (("poke", meek, meek, "--seats", "3"), "poke needs 2 seats, not 3"),
    ):
        result = cli("play", *words)
        assert result.status == 2, words
        assert sentence in result.err
        assert result.err.startswith("error  ")
        assert result.out == ""
    assert not Path(".pokearena").exists()


def test_a_bot_that_does_not_play_the_game_is_refused(cli: Cli) -> None:
    Path("b").mkdir()
    Path("b/bot.toml").write_text('name = "b"\ngames = ["poke"]\nrun = ["python", "bot.py"]\n')
    result = cli("play", "saint_poker", "b", "sample:meek")
    assert result.status == 2
    assert result.code == "not-played"


@pytest.mark.long
def test_ctrl_c_keeps_the_finished_games(cwd: Path) -> None:
    words = ["sample:meek", "sample:meek", "-n", "5000", "--watch", "--record", "m.jsonl"]
    with running("play", "poke", *words) as (process, out, err):
        out.readline()
        os.kill(process.pid, signal.SIGINT)
        out.read()
        stderr = err.read()
    assert process.returncode == 130
    assert "of 10000 games" in stderr
    assert "Traceback" not in stderr
    assert read(Path("m.jsonl").read_text()).games


@pytest.mark.long
def test_an_option_that_is_a_switch_needs_no_value(cli: Cli) -> None:
    first, other = (
        cli("play", "poke", "sample:meek", "sample:random", "--seed", 1, "--json", *words)
        for words in (("--option", "must_beat"), ("--option", "must_beat=false"))
    )
    assert first.json["options"] == {"must_beat": True}
    assert other.json["options"] == {"must_beat": False}


@pytest.mark.long
def test_a_terminal_shows_the_progress(cwd: Path) -> None:
    words = ("play", "poke", "sample:meek", "sample:meek", "-n", 5000)
    with in_a_terminal(cwd, *words) as terminal:
        terminal.sees("of 10000 games · meek ")
        terminal.sees("left")

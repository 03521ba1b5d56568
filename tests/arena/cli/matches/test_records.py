"""Commands that read records: `replay`, `verify`, `logs` and `ask`."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli.errors import CommandError
from referee.record import dump, read
from tests.arena.cli.terminal import Cli, Write, running

Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture
def altered(cwd: Path, played: Path) -> Callable[[Change], str]:
    """Write the record with a change; return the name of the file."""

    def write(change: Change) -> str:
        lines = [json.loads(line) for line in played.read_text().splitlines()]
        change(lines)
        (cwd / "altered.jsonl").write_text("".join(map(dump, lines)))
        return "altered.jsonl"

    return write


def line_of(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == kind)


def test_an_unchanged_record_verifies(cli: Cli, played: Path) -> None:
    result = cli("verify", played)
    assert result.status == 0
    assert " 2 games dealt" in result.out
    assert result.last == f"next  pokearena replay {played}"


def test_verify_prints_its_findings_as_json(cli: Cli, played: Path) -> None:
    document = cli("verify", played, "--json").json
    assert document["verified"] is True
    assert document["problems"] == []
    assert (document["games"], document["match"]) == (2, read(played.read_text()).match["match"])


def test_a_changed_score_does_not_verify(cli: Cli, altered: Callable[[Change], str]) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        line_of(lines, "result")["scores"][0] += 50

    result = cli("verify", altered(change))
    assert result.status == 1
    assert "its scores are" in result.out


def test_an_invalid_record_is_refused(cli: Cli) -> None:
    Path("noise.jsonl").write_text("hello\n")
    Path("bytes.jsonl").write_bytes(b"\xff\xfe")
    for name in ("noise.jsonl", "bytes.jsonl"):
        for command in ("verify", "replay", "logs"):
            result = cli(command, name)
            assert result.status == 1
            assert result.code in ("invalid-record", "RecordError")


def test_a_missing_record_is_a_usage_error(cli: Cli) -> None:
    for name in ("nofile.jsonl", "./no", "m-0000000000", "0"):
        result = cli("verify", name)
        assert result.status == 2
        assert name in result.err


def test_a_unique_prefix_of_an_id_is_accepted(cli: Cli, played: Path) -> None:
    plays = Path(".pokearena/plays")
    plays.mkdir(parents=True)
    text = played.read_text()
    for name in ("m-0000000000", "m-0000000001", "m-1aaaaaaaaa"):
        (plays / f"{name}.jsonl").write_text(text)
    for name in ("m-1", "1", "1aaaaaaaaa", "m-0000000000"):
        assert cli("verify", name).status == 0
    several = cli("verify", "m-0")
    assert several.status == 2
    assert "m-0000000000, m-0000000001" in several.err


def test_replay_prints_every_position_in_full_for_programs(cli: Cli, played: Path) -> None:
    record = read(played.read_text())
    lines = cli("replay", played, "--json").documents
    first, last = lines[0], lines[-1]
    assert first["match"] == record.match["match"]
    assert (first["game"], first["decision"], len(first["actors"])) == (0, 0, 1)
    position = first["position"]
    cards = [*position["hands"][0], *position["hands"][1], *position["stock"]]
    assert len(set(cards)) == 52
    actions = [line for game in record.games for line in game.actions]
    told_actions = [action for line in lines for action in line["actions"]]
    assert [line["action"] for line in told_actions] == [line["action"] for line in actions]
    assert (last["game"], last["actors"], last["actions"]) == (1, [], [])
    assert last["result"]["scores"] == record.games[1].result["scores"]
    assert sum("result" in line for line in lines) == 2


def test_replay_without_a_terminal_prints_every_step(cli: Cli, played: Path) -> None:
    result = cli("replay", played, "--game", 1)
    pages = result.out.rstrip().split("\n\n")
    record = read(played.read_text())
    assert len(pages) == len(record.games[1].actions) + 1
    assert all(page.startswith(f"game 2 of {record.match['match']}") for page in pages)
    assert "stock: " in pages[0]
    assert "result: " in pages[-1]
    assert result.last == f"next  pokearena verify {played}"


def test_replay_of_an_unknown_game_is_refused(cli: Cli, played: Path) -> None:
    result = cli("replay", played, "--game", 2)
    assert result.status == 2
    assert result.code == "unknown-game"


def test_a_closed_output_pipe_is_not_an_error(played: Path) -> None:
    with running("replay", played, "--json") as (process, out, err):
        out.readline()
        out.close()
        assert err.read() == ""
    assert process.returncode == 141


def test_ask_repeats_the_recorded_answer(cli: Cli, played: Path) -> None:
    game = read(played.read_text()).games[1]
    line = [action for action in game.actions if game.game["seating"][action["seat"]] == "random"][
        3
    ]
    question = f"{played}:1:{line['decision']}"
    result = cli("ask", question, "sample:random", "--json")
    assert result.status == 0
    document = result.json
    assert document["answer"] == document["recorded"] == line["action"]
    assert (document["legal"], document["in_time"], document["seat"]) == (True, True, line["seat"])
    assert document["answer"] in document["question"]["legal"]
    assert document["question"]["match"] == read(played.read_text()).match["match"]


def test_ask_prints_the_hand_the_recorded_and_the_new_answer(cli: Cli, played: Path) -> None:
    result = cli("ask", f"{played}:0:0", "sample:meek")
    assert result.status == 0
    for word in ("hand  ", "legal  ", "then  ", "now     stand: legal", "time  "):
        assert word in result.out


def test_ask_repeats_the_question_of_a_fault(cli: Cli, bot: Write) -> None:
    late = bot("late", "time.sleep(20)\nreturn turn.legal[0]")
    # With this seed it is asked first, so no bot has to answer in time.
    words = ("play", "poke", late, "sample:meek", "--seed", 0, "--allowance", 30, "--bank", 20)
    command = cli(*words).last.removeprefix("next  pokearena ").split()
    cured = bot("late", "return turn.legal[-1], 'better'")
    result = cli(*command, "--json")
    document = result.json
    # On a busy machine it is late too, which is a failure.
    assert result.status == (0 if document["in_time"] else 1)
    assert cured == command[-1]
    assert document["recorded"] is None
    assert document["limit_ms"] == 50
    assert document["question"]["clock"]["allowanceMs"] == 30
    assert (document["legal"], document["note"]) == (True, "better")


def test_ask_fails_on_an_illegal_answer(cli: Cli, bot: Write, played: Path) -> None:
    cheat = bot(
        "cheat",
        "action = bot_pb2.Action()\naction.poke.draw.discards.append('2C')\n"
        "action.poke.draw.discards.append('2C')\nreturn action",
    )
    result = cli("ask", f"{played}:0:0", cheat)
    assert result.status == 1
    assert "draw 2C 2C: NOT LEGAL" in result.out


@pytest.mark.long
def test_ask_reports_the_output_of_a_crashed_bot(cli: Cli, bot: Write, played: Path) -> None:
    result = cli("ask", f"{played}:0:0", bot("dies", "raise KeyError('oh')"))
    assert result.status == 1
    assert "no action: " in result.out
    assert "exited with status 1" in result.out
    assert "KeyError: 'oh'" in result.out


@pytest.mark.long
def test_ask_times_out(cli: Cli, bot: Write, played: Path) -> None:
    result = cli("ask", f"{played}:0:0", bot("silent", "time.sleep(600)"), "--patience", 0.2)
    assert result.status == 1
    assert "no action: it did not answer within 200 ms" in result.out


def test_ask_reports_an_unreachable_remote_bot(cli: Cli, played: Path) -> None:
    result = cli("ask", f"{played}:0:0", "unix:/nowhere/bot.sock", "--patience", 0.2)
    assert result.status == 3


def test_ask_refuses_an_invalid_question(cli: Cli, played: Path) -> None:
    for question, status in (
        ("m-7f3k9q", 2),
        (f"{played}:0", 2),
        (f"{played}:0:x", 2),
        (f"{played}:9:0", 2),
        (f"{played}:0:9999", 1),
    ):
        assert cli("ask", question, "sample:meek").status == status, question


@pytest.mark.long
def test_logs_print_faults_and_bot_output(cli: Cli, bot: Write) -> None:
    noisy = bot("noisy", "print('noise', turn.decision)\nreturn turn.legal[0]")
    cheat = bot("cheat", "return bot_pb2.Action()")
    words = ("play", "poke", noisy, cheat, "--lenient", "--seed", 1)
    match = cli(*words).last.split()[3].partition(":")[0]
    result = cli("logs", match)
    assert result.status == 0
    assert "fault   cheat: protocol" in result.out
    assert "output of noisy" in result.out
    assert "noise 0" in result.out or "noise 1" in result.out
    assert result.last.startswith(f"next  pokearena ask {match}:0:")
    assert "fault" not in cli("logs", match, "noisy").out
    assert "noise" not in cli("logs", match, "cheat").out
    faults = cli("logs", match, "--json").documents
    assert {(fault["bot"], fault["verdict"]) for fault in faults} == {("cheat", "protocol")}
    nobody = cli("logs", match, "noisi")
    assert nobody.status == 2
    assert 'did you mean "noisy"?' in nobody.err
    assert cli("logs", match, 2).status == 2


def test_ask_reports_the_output_of_a_bot_that_does_not_start(cli: Cli, played: Path) -> None:
    Path("broken.py").write_text("import nothing_of_this_name\n")
    result = cli("ask", f"{played}:0:0", "broken.py")
    assert result.status == 1
    assert "did not start: it was not listening yet; its process exited with status 1" in result.out
    assert "nothing_of_this_name" in result.out


@pytest.mark.long
def test_a_match_stopped_by_a_fault_verifies(cli: Cli, bot: Write) -> None:
    faulty = bot("faulty", "raise SystemExit('enough')")
    result = cli("play", "poke", faulty, "sample:meek", "--seed", 1, "--record", "m.jsonl")
    assert result.status == 1
    assert len(read(Path("m.jsonl").read_text()).games) == 1
    assert cli("verify", "m.jsonl").status == 0


@pytest.mark.long
def test_a_replay_shows_how_every_deal_ended(cli: Cli) -> None:
    words = ("sample:greedy", "sample:meek", "sample:random", "--seed", 7, "--record", "m.jsonl")
    assert cli("play", "pouku", *words).status == 0
    output = cli("replay", "m.jsonl", "--game", 0, "--no-pause").out
    (game, *_) = read(Path("m.jsonl").read_text()).games
    went_out = sum("goOut" in line["action"]["pouku"] for line in game.actions)
    assert len(set(re.findall(r"how deal \d+", output))) == went_out > 1


@pytest.mark.long
def test_a_replay_shows_who_called_pokino(cli: Cli) -> None:
    words = ("sample:greedy", "sample:random", "--option", "greed", "--seed", 7)
    assert cli("play", "pokino", *words, "--record", "m.jsonl").status == 0
    watched = cli("replay", "m.jsonl", "--game", 0, "--no-pause").out
    assert "calls Pokino" in watched


@pytest.mark.long
def test_a_message_of_several_questions_has_one_limit_with_or_without_answers(
    cli: Cli, bot: Write, played: Path
) -> None:
    question = f"{played}:0:0,1:0"
    dead = bot("dead", "sys.exit(3)")
    results = [cli("ask", question, player, "--json") for player in ("sample:meek", dead)]
    limits = [[answer["limit_ms"] for answer in json.loads(r.out)["answers"]] for r in results]
    assert limits[0] == limits[1]


def test_ask_sends_several_questions_in_one_message(cli: Cli, played: Path) -> None:
    places = {
        seat: [
            f"{game.number}:{next(a['decision'] for a in game.actions if a['seat'] == seat)}"
            for game in read(played.read_text()).games
        ]
        for seat in (0, 1)
    }
    result = cli("ask", f"{played}:{','.join(places[0])}", "sample:meek", "--json")
    assert result.status == 0
    document = result.json
    assert [(answer["game"], answer["seat"]) for answer in document["answers"]] == [(0, 0), (1, 0)]
    assert all(answer["legal"] for answer in document["answers"])
    for both, code in (
        (f"{places[0][0]},{places[1][1]}", "different-seats"),
        (f"{places[0][0]},{places[0][0]}", "same-game"),
    ):
        result = cli("ask", f"{played}:{both}", "sample:meek")
        assert result.status == 2
        assert isinstance(result.error, CommandError)
        assert result.error.code == code

"""Test `pokearena test`: correct bots pass; for others it prints each failure and its cause."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from arena.cli.errors import FAILED, OK
from arena.store.match_settings import Clock
from arena.submissions.conformance import (
    decision_clock,
    examination_order,
    examined_forms,
    start_checks,
)
from tests.arena.cli.terminal import Cli, Write

GOOD = "return turn.legal[-1]"
CRASHES_AT_HUNDREDS = """
if len(turn.legal) > 199:
    print("too many for me")
    raise MemoryError
return turn.legal[0]
"""
CHEATS_TOGETHER = """
if turn.view.saint_poker.phase == "show":
    turn.legal[0].saint_poker.show.cards[:] = ["AS", "AH", "AD"]
return turn.legal[0]
"""

TIRES = """
choose.asked = getattr(choose, "asked", 0) + 1
if choose.asked > 50:
    raise MemoryError("that is enough")
return turn.legal[0]
"""
SLEEPS = """
if turn.decision > 4:
    time.sleep(20)
return turn.legal[0]
"""
MIXER = """
import pokearena_bot

class Mixer(pokearena_bot._Service):
    def _answer_all(self, request):
        response = super()._answer_all(request)
        actions = [answer.action for answer in response.answers]
        copies = [type(action).FromString(action.SerializeToString()) for action in actions]
        for answer, action in zip(response.answers, copies[1:] + copies[:1]):
            answer.action.CopyFrom(action)
        return response

pokearena_bot._Service = Mixer
pokearena_bot.run(lambda turn: turn.legal[-1])
"""


def checks(cli: Cli, *words: object) -> dict[str, dict[str, Any]]:
    """Run the command and return the checks by name."""
    command = cli("test", *words, "--json")
    document = command.json
    assert command.status == (OK if document["passed"] else FAILED)
    return {check["name"]: check for check in document["checks"]}


def one_at_a_time(bot: str) -> str:
    """Change the bot so that it plays one game at a time."""
    Path(bot).write_text(Path(bot).read_text().replace("run(choose)", "run(choose, 1)"))
    return bot


def again(cli: Cli, check: dict[str, Any]) -> dict[str, Any]:
    """Run the command that reproduces a failure and return its JSON output."""
    program, *words = shlex.split(check["command"])
    assert (program, words[0]) == ("pokearena", "ask")
    command = cli(*words, "--json")
    assert command.status == 1
    answer: dict[str, Any] = command.json
    return answer


@pytest.mark.long
def test_a_correct_bot_passes_and_the_next_command_registers_it(cli: Cli, bot: Write) -> None:
    command = cli("test", bot("good", GOOD), "--game", "poke")
    assert command.status == 0
    for name in ("starts and listens", "plays", "a long table", "one legal action", "clock"):
        assert f" ✓ {name}" in command.out
    assert " ✗ " not in command.out
    assert " passed in " in command.out
    assert command.last == "next  pokearena bot add good.py"


@pytest.mark.long
def test_a_crash_at_hundreds_of_actions_is_reported_with_its_question(cli: Cli, bot: Write) -> None:
    results = checks(cli, bot("crasher", CRASHES_AT_HUNDREDS), "--game", "pokino", "--quick")
    check = results["hundreds of legal actions"]
    assert "its process exited with status 1" in check["sentence"]
    assert "too many for me" in check["output"]
    answer = again(cli, check)
    assert len(answer["question"]["legal"]) > 199
    assert "exited with status 1" in answer["trouble"]
    assert "MemoryError" in answer["output"]


@pytest.mark.long
def test_an_illegal_action_at_a_simultaneous_choice_fails_that_check(cli: Cli, bot: Write) -> None:
    results = checks(cli, bot("cheat", CHEATS_TOGETHER), "--game", "saint_poker", "--quick")
    check = results["choices all make at once"]
    assert check["outcome"] == "failed"
    assert "which is not legal" in check["sentence"]
    answer = again(cli, check)
    assert answer["legal"] is False
    assert answer["question"]["view"]["saintPoker"]["phase"] == "show"


def test_a_bot_that_exits_before_it_listens_fails_only_the_start_check(cli: Cli, cwd: Path) -> None:
    Path("deaf.py").write_text("import nothing_of_this_name\n")
    results = checks(cli, "deaf.py")
    assert list(results) == ["starts and listens"]
    check = results["starts and listens"]
    assert "it was not listening yet; its process exited with status 1" in check["sentence"]
    assert "nothing_of_this_name" in check["output"]
    assert "did not start" in again(cli, check)["trouble"]


@pytest.mark.long
def test_swapped_answers_of_a_message_fail_and_the_message_is_repeated(cli: Cli, cwd: Path) -> None:
    Path("mixer.py").write_text(MIXER)
    results = checks(cli, "mixer.py", "--game", "poke", "--quick")
    assert "asked alone it answers well" in results["plays"]["sentence"]
    assert results["plays"]["command"] == "pokearena test mixer.py --game poke --seed 1 --quick"
    check = results["many questions in one message"]
    assert check["outcome"] == "failed"
    assert check["sentence"].startswith("of 4 questions in one message: poke-must_beat=false, game")
    assert results["the middle of games"]["outcome"] == "passed"
    answers = again(cli, check)["answers"]
    assert len(answers) == 4
    assert [answer["game"] for answer in answers] == [0, 1, 2, 3]
    assert not all(answer["legal"] for answer in answers)


@pytest.mark.long
@pytest.mark.repetition
def test_a_crash_in_the_second_game_of_a_table_fails_plays(cli: Cli, bot: Write) -> None:
    dies = bot("dies", "if turn.game > 0:\n    raise KeyError(turn.game)\nreturn turn.legal[0]")
    results = checks(cli, one_at_a_time(dies), "--game", "poke", "--quick")
    check = results["plays"]
    assert check["sentence"].startswith("poke: crash: game 2, decision ")
    assert again(cli, check)["question"]["game"] == 1


@pytest.mark.long
def test_a_crash_after_many_questions_is_repeated_with_all_of_them(cli: Cli, bot: Write) -> None:
    tires = one_at_a_time(bot("tires", TIRES))
    results = checks(cli, tires, "--game", "poke", "--quick")
    check = results["plays"]
    assert "asked alone it answers well" in check["sentence"]
    assert check["command"].endswith(" tires.py --from-start")
    assert "exited with status 1" in again(cli, check)["trouble"]


def examine_with(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examine bots with a clock for which the test waits less than for the ordinary one."""
    for module in (decision_clock, examined_forms, examination_order, start_checks):
        monkeypatch.setattr(module, "CLOCK", clock)
    seconds = (clock.allowance_ms + clock.bank_ms) / 1000
    monkeypatch.setattr(examination_order, "QUESTION_SECONDS", seconds)


@pytest.mark.long
def test_a_bot_that_exceeds_its_clock_fails_plays_and_clock(
    cli: Cli, bot: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine_with(Clock(bank_ms=1000), monkeypatch)
    results = checks(cli, bot("sleeper", SLEEPS), "--game", "poke", "--quick")
    assert results["plays"]["sentence"].startswith("poke: timeout: game 1, decision ")
    # An earlier answer may have taken some of the bank.
    assert re.search(r"it did not answer within [\d.]+ ms$", results["plays"]["sentence"])
    assert results["clock"]["outcome"] == "failed"
    assert "ran out of time at its table" in results["clock"]["sentence"]


@pytest.mark.long
def test_a_bot_that_never_listens_fails_after_its_time_to_start(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine_with(Clock(start_ms=1000), monkeypatch)
    Path("mute.py").write_text("import time\nprint('thinking')\ntime.sleep(600)\n")
    results = checks(cli, "mute.py")
    assert list(results) == ["starts and listens"]
    check = results["starts and listens"]
    assert check["sentence"] == "it did not listen within 1 s (limit 1 s)"
    assert "did not start" in again(cli, check)["trouble"]

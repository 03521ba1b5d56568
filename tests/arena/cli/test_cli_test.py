"""`pokearena test`: good bots pass, and of broken ones it says where and why."""

import json
import shlex
from pathlib import Path
from typing import Any

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


def checks(cli: Cli, *words: object) -> dict[str, dict[str, Any]]:
    """What is said of a bot, by name of the check."""
    said = cli("test", *words, "--json")
    told = json.loads(said.out)
    assert said.status == (0 if told["passed"] else 1)
    return {check["name"]: check for check in told["checks"]}


def failed(told: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, check in told.items() if check["outcome"] == "failed"]


def again(cli: Cli, check: dict[str, Any]) -> dict[str, Any]:
    """What the command of a failure shows."""
    program, *words = shlex.split(check["command"])
    assert (program, words[0]) == ("pokearena", "ask")
    said = cli(*words, "--json")
    assert said.status == 1
    answer: dict[str, Any] = json.loads(said.out)
    return answer


def test_a_good_bot_passes_and_is_told_how_to_enter(cli: Cli, bot: Write) -> None:
    said = cli("test", bot("good", GOOD), "--game", "poke")
    assert said.status == 0
    for name in ("starts and listens", "plays", "a long table", "one legal action", "clock"):
        assert f" ✓ {name}" in said.out
    assert " ✗ " not in said.out
    assert " passed in " in said.out
    assert said.last == "next  pokearena bot add good.py"


def test_a_bot_that_crashes_at_hundreds_of_actions_is_shown_the_question(
    cli: Cli, bot: Write
) -> None:
    told = checks(cli, bot("crasher", CRASHES_AT_HUNDREDS), "--game", "pokino", "--quick")
    check = told["hundreds of legal actions"]
    assert "its process exited with status 1" in check["sentence"]
    assert "too many for me" in check["output"]
    answer = again(cli, check)
    assert len(answer["question"]["legal"]) > 199
    assert "exited with status 1" in answer["trouble"]
    assert "MemoryError" in answer["output"]


def test_a_bot_that_cheats_where_all_choose_at_once_fails_there(cli: Cli, bot: Write) -> None:
    told = checks(cli, bot("cheat", CHEATS_TOGETHER), "--game", "saint_poker", "--quick")
    check = told["choices all make at once"]
    assert check["outcome"] == "failed"
    assert "which is not legal" in check["sentence"]
    answer = again(cli, check)
    assert answer["legal"] is False
    assert answer["question"]["view"]["saintPoker"]["phase"] == "show"


def test_a_bot_that_never_listens_fails_at_its_start_and_nothing_else_is_tried(
    cli: Cli, here: Path
) -> None:
    Path("deaf.py").write_text("import nothing_of_this_name\n")
    told = checks(cli, "deaf.py")
    assert list(told) == ["starts and listens"]
    check = told["starts and listens"]
    assert "it was not listening yet; its process exited with status 1" in check["sentence"]
    assert "nothing_of_this_name" in check["output"]
    assert "did not start" in again(cli, check)["trouble"]

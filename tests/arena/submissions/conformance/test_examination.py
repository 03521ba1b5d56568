"""Test examinations: passed checks, remarks, and arena failures, which are not charged to a bot."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots.bot import Bot
from arena.bots.bot_session import SessionFailed
from arena.bots.resolver import from_folder, resolve, sample
from arena.bots.socket_probe import listens
from arena.errors import InfrastructureError
from arena.submissions.conformance import examined_forms
from arena.submissions.conformance.check import CheckOutcome
from arena.submissions.conformance.examination import examine
from arena.submissions.conformance.examination_order import ExaminationOrder
from arena.submissions.conformance.question_sheet import prepare_questions
from referee.games.registry import GAMES
from tests.arena.submissions.conformance.conftest import Examine, Program
from tests.errors import has_code
from tests.ports import reserved_port
from tests.waiting import wait_until

KITS = Path(__file__).parents[4] / "sample_bots"
MEEK = "import pokearena_bot\npokearena_bot.run(lambda turn: turn.legal[0])\n"
REMEMBERS = """
import pokearena_bot

class Mine:
    def __init__(self):
        self.games = set()
    def act(self, turn):
        if turn.game not in self.games and turn.decision > 9:
            raise KeyError("what came before?")
        self.games.add(turn.game)
        return turn.legal[0]

pokearena_bot.run(Mine)
"""
FORGETS = """
import pokearena_bot

asked = []

def choose(turn):
    asked.append(turn)
    if len(asked) > 50:
        raise MemoryError("that is enough")
    return turn.legal[0]

pokearena_bot.run(choose, 1)
"""
CRASHES = """
import os
import pokearena_bot
pokearena_bot.run(lambda turn: os._exit(3))
"""
FICKLE = """
from itertools import count
import pokearena_bot
number = count()
pokearena_bot.run(lambda turn: turn.legal[next(number) % len(turn.legal)])
"""
FLOODS = """
import pokearena_bot
from pokearena.v1 import bot_pb2

def floods(self, requests, context):
    next(requests)
    while True:
        yield bot_pb2.PlayResponse()

pokearena_bot._Service.Play = floods
pokearena_bot.run(lambda turn: turn.legal[0])
"""
ONE_WAY = """
import pokearena_bot
from pokearena.v1 import bot_pb2_grpc
pokearena_bot._Service.{missing} = bot_pb2_grpc.BotServiceServicer.{missing}
pokearena_bot.run(lambda turn: turn.legal[-1])
"""
ONLY_BY_STREAM = """
import pokearena_bot
act = pokearena_bot._Service._answer_all

def broken(self, request):
    response = act(self, request)
    for answer in response.answers:
        if answer.game == 1:
            answer.action.Clear()
    return response

pokearena_bot._Service._answer_all = broken
pokearena_bot.run(lambda turn: turn.legal[0], 1)
"""


def test_a_house_bot_passes_without_remarks(examined: Examine) -> None:
    checks = examined(sample("random"))
    assert {check.outcome for check in checks.values()} == {CheckOutcome.PASSED}
    assert all(check.command == check.question == "" for check in checks.values())


@pytest.mark.long
@pytest.mark.parametrize("missing", ["Play", "Act", "Start", "End"])
def test_a_missing_optional_method_is_not_a_failure(
    examined: Examine, program: Program, missing: str
) -> None:
    checks = examined(program(ONE_WAY.format(missing=missing)))
    assert not [check for check in checks.values() if check.failed]
    assert ("answers by Act too" in checks) == (missing != "Play")


@pytest.mark.long
def test_questions_that_no_match_contains_do_not_fail_a_bot_with_memory(
    examined: Examine, program: Program
) -> None:
    checks = examined(program(REMEMBERS))
    assert not [check for check in checks.values() if check.failed]
    check = checks["the middle of games"]
    assert check.outcome is CheckOutcome.REMARK
    assert "asked from the beginning of the game it answers well" in check.sentence
    assert "what came before?" in check.output


@pytest.mark.long
def test_a_failure_that_depends_on_earlier_questions_is_described(
    examined: Examine, program: Program
) -> None:
    check = examined(program(FORGETS))["plays"]
    assert check.failed
    assert "asked alone it answers well" in check.sentence
    assert "that is enough" in check.output
    assert check.command == f"pokearena ask {check.question} mybot --from-start"


@pytest.mark.long
def test_a_failure_by_play_only_is_repeated_with_play(examined: Examine, program: Program) -> None:
    check = examined(program(ONLY_BY_STREAM))["plays"]
    assert check.sentence.endswith("by Act it answers well")
    assert check.command == f"pokearena ask {check.question} mybot --play"


def test_different_answers_to_the_same_question_are_a_remark(
    examined: Examine, program: Program
) -> None:
    check = examined(program(FICKLE))["the same question twice"]
    assert check.outcome is CheckOutcome.REMARK
    assert "it answered differently" in check.sentence
    assert "docs/how-to/bots.md" in check.sentence


@pytest.mark.long
def test_a_line_program_is_examined_like_any_other(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(
        'name = "b"\ntransport = "stdio"\nrun = ["python", "-I", "-S", "bot.py"]\n'
    )
    (tmp_path / "bot.py").write_text("while True:\n    input()\n    print(0, flush=True)\n")
    checks = examined(from_folder(tmp_path))
    assert not [check for check in checks.values() if check.failed]
    assert checks["plays"].outcome is CheckOutcome.PASSED


def test_a_bot_that_does_not_build_is_not_started(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(
        'name = "b"\nbuild = ["sh", "-c", "echo no such header; exit 3"]\nrun = ["./b"]\n'
    )
    checks = examined(from_folder(tmp_path))
    assert list(checks) == ["builds"]
    assert checks["builds"].failed
    assert "exited with status 3" in checks["builds"].sentence
    assert "no such header" in checks["builds"].sentence


def test_a_game_missing_in_the_manifest_is_not_tried(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "b"\ngames = ["pokex"]\nrun = ["./b"]\n')
    checks = examined(from_folder(tmp_path))
    assert checks["plays"].sentence == "the bot plays none of the requested games"


@pytest.mark.long
def test_forms_after_repeated_failures_are_not_tried(referee: str, program: Program) -> None:
    tests: list[str] = []
    crashing = program(CRASHES)
    checks = list(examine(crashing, referee, ("saint_poker",), on_test=tests.append))
    assert len([test for test in tests if test.endswith(": plays")]) == 2
    assert len([test for test in tests if test.endswith(": awkward questions")]) == 1
    plays = [check for check in checks if check.name == "plays"]
    assert [check.outcome for check in plays] == [CheckOutcome.FAILED] * 2 + [CheckOutcome.SKIPPED]
    left = len(examined_forms.forms(GAMES["saint_poker"])) - 2
    assert plays[-1].sentence == f"{left} more forms: 2 have failed already"


@pytest.mark.long
def test_questions_after_the_time_limit_are_reported_as_unchecked(examined: Examine) -> None:
    complete = examined(sample("meek"), "poke")
    limited = examined(sample("meek"), "poke", seconds=0.0)
    assert list(limited) == list(complete)
    assert not any(check.unchecked for check in complete.values())
    assert limited["the middle of games"].outcome is CheckOutcome.UNCHECKED
    assert limited["many questions in one message"].outcome is CheckOutcome.UNCHECKED
    assert limited["plays"].outcome is CheckOutcome.PASSED
    assert limited["clock"].outcome is CheckOutcome.PASSED


@pytest.fixture
def running_bot(tmp_path: Path) -> Iterator[Bot]:
    """Yield a bot that another process has started and that listens at a TCP port."""
    (tmp_path / "bot.py").write_text(MEEK)
    address = f"127.0.0.1:{reserved_port()}"
    path = f"{KITS / 'python'}"
    process = subprocess.Popen(
        [sys.executable, tmp_path / "bot.py"],
        env={**os.environ, "POKEARENA_ADDRESS": address, "PYTHONPATH": path},
    )
    try:
        wait_until(lambda: listens(address))
        yield resolve(f"grpc://{address}")
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_a_remote_bot_plays_a_house_bot_at_every_seat(examined: Examine, running_bot: Bot) -> None:
    checks = examined(running_bot)
    assert not [check for check in checks.values() if check.failed]
    assert checks["plays"].outcome is CheckOutcome.PASSED
    assert checks["quiet"].outcome is CheckOutcome.SKIPPED


def test_an_unreachable_bot_is_not_a_failed_check(examined: Examine) -> None:
    with pytest.raises(InfrastructureError, check=has_code("unreachable")):
        examined(resolve("grpc://127.0.0.1:1"))


@pytest.mark.long
def test_an_endless_stream_ends_at_the_time_limit(referee: str, program: Program) -> None:
    form = examined_forms.forms(GAMES["poke"])[0]
    sheet = prepare_questions(form, 0, bytes(32), 1, 1)
    order = ExaminationOrder(program(FLOODS), "", "mybot", bytes(32), "1", referee)
    with (
        order.session(sheet.spec, 0) as session,
        pytest.raises(SessionFailed, match="did not answer within") as failure,
    ):
        session.play(sheet.positions[0].recorded.request)
    assert failure.value.late

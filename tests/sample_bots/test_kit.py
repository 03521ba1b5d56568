"""Test the Python kit with real bot processes, over their sockets."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pokearena_bot
import pytest
from pokearena.v1 import bot_pb2

from arena.cli.bots.new import copy_kit
from tests.sample_bots.processes import PATIENCE, Process, question, started

ROOT = Path(__file__).parent.parent.parent
STARTER = ROOT / "sample_bots" / "python"


Launch = Callable[[str | Path], Process]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Start a bot from a file or its text, with its address as the only setting."""
    with ExitStack() as stack:

        def start_one(bot: str | Path) -> Process:
            number = sum(1 for _ in tmp_path.glob("*.py"))
            file = bot if isinstance(bot, Path) else tmp_path / f"bot{number}.py"
            if isinstance(bot, str):
                file.write_text(f"import random\nfrom pokearena_bot import run\n{bot}\n")
            address = f"unix:{file.parent / (file.stem + '.sock')}"
            return stack.enter_context(started([sys.executable, file.name], file.parent, address))

        yield start_one


QUESTIONS = [question(luck=7 * n, game=n, decision=3 * n) for n in range(20)]
AT_RANDOM = "run(lambda turn: random.choice(turn.legal))"


@pytest.fixture(scope="module")
def random_bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Start a bot of three lines."""
    folder = tmp_path_factory.mktemp("random")
    (folder / "bot.py").write_text(f"import random\nfrom pokearena_bot import run\n{AT_RANDOM}\n")
    with started([sys.executable, "bot.py"], folder, f"unix:{folder}/bot.sock") as bot:
        yield bot


def test_a_bot_of_three_lines_gives_equal_answers_by_act_and_by_play(random_bot: Process) -> None:
    one_by_one = [random_bot.act(request) for request in QUESTIONS]
    assert all(answer.action in question().legal for answer in one_by_one)
    assert len({answer.action.SerializeToString() for answer in one_by_one}) > 1
    streamed = random_bot.play(*([request] for request in QUESTIONS))
    assert [answer for message in streamed for answer in message.answers] == one_by_one
    messages = random_bot.play(QUESTIONS[:15], QUESTIONS[15:])
    assert [len(message.answers) for message in messages] == [15, 5]
    assert [answer for message in messages for answer in message.answers] == one_by_one
    answered = [(answer.game, answer.decision) for answer in one_by_one]
    assert answered == [(request.game, request.decision) for request in QUESTIONS]


def test_a_repeated_question_gets_the_same_answer_from_any_process(
    random_bot: Process, launch: Launch
) -> None:
    again, first = launch(AT_RANDOM), [random_bot.act(request) for request in QUESTIONS]
    assert [again.act(request) for request in reversed(QUESTIONS)] == first[::-1]


def answered(choose: Callable[[Any], Any]) -> bot_pb2.ActResponse:
    """Return the answer of a bot in this process to the usual question."""
    return pokearena_bot._Service(choose, None).Act(question(), None)


def test_an_answer_may_carry_a_note() -> None:
    answer = answered(lambda turn: (turn.legal[2], "the five is low"))
    assert (answer.action, answer.note) == (question().legal[2], "the five is low")


def test_an_answer_may_be_an_action_that_is_not_listed() -> None:
    answer = answered(lambda turn: bot_pb2.Action(poke={"draw": {"discards": ["2C", "5D"]}}))
    assert list(answer.action.poke.draw.discards) == ["2C", "5D"]


@pytest.mark.parametrize("give", [lambda turn: None, lambda turn: turn.view])
def test_an_answer_that_is_not_an_action_is_an_exception(give: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        pokearena_bot._Service(give, None)._answer(question())


REMEMBERS = """
class Mine:
    def __init__(self): print("made")
    def start(self, start): print("start", start.game)
    def act(self, turn): print("act", turn.decision); return turn.legal[0]
    def end(self, end): print("end", end.match)
"""


def test_a_bot_object_receives_start_and_end_once(launch: Launch) -> None:
    bot = launch(f"{REMEMBERS}\nrun(Mine)")
    bot.start()
    bot.play([question(decision=4)], [question(decision=6)])
    bot.end()
    status, written = bot.terminated()
    assert written.splitlines() == ["made", "start poke", "act 4", "act 6", "end m-test"]
    assert status == 0


class SecondAction:
    """A bot with the only method that is required."""

    def act(self, turn: Any) -> Any:
        return turn.legal[1]


class SixGames(SecondAction):
    games_in_flight = 6


class Starting(SecondAction):
    """A bot with its own response to the start."""

    def __init__(self, **response: Any) -> None:
        self.response = response

    def start(self, start: bot_pb2.StartRequest) -> bot_pb2.StartResponse:
        return bot_pb2.StartResponse(**self.response)


def begun(bot: Any, games_in_flight: int | None = None) -> bot_pb2.StartResponse:
    return pokearena_bot._Service(bot, games_in_flight).Start(bot_pb2.StartRequest(), None)


def test_a_bot_with_only_act_accepts_start_and_end() -> None:
    service = pokearena_bot._Service(SecondAction(), None)
    service.Start(bot_pb2.StartRequest(), None)
    assert service.Act(question(), None).action == question().legal[1]
    service.End(bot_pb2.EndRequest(), None)


def test_games_in_flight_depend_on_function_or_object() -> None:
    cases: list[tuple[Any, int | None, int]] = [
        (random.choice, None, 16),
        (random.choice, 3, 3),
        (SecondAction(), None, 1),
        (SecondAction(), 5, 5),
        (SixGames(), None, 6),
        (Starting(games_in_flight=40), None, 40),
    ]
    for bot, given, games in cases:
        assert begun(bot, given).games_in_flight == games


def test_a_bot_can_request_texts_without_legal_actions_and_answer_in_words() -> None:
    expected = bot_pb2.StartResponse(without_legal=True, with_text=True, games_in_flight=1)
    assert begun(Starting(without_legal=True, with_text=True)) == expected
    answer = answered(lambda turn: ("stand", "a note"))
    assert (answer.text, answer.note, answer.HasField("action")) == ("stand", "a note", False)


def test_questions_to_a_bot_object_are_sequential(launch: Launch) -> None:
    bot = launch(
        """
import time
class Mine:
    busy = False
    def act(self, turn):
        if self.busy: raise RuntimeError("two at once")
        self.busy = True
        time.sleep(0.05)
        self.busy = False
        return turn.legal[0]
run(Mine(), games_in_flight=8)"""
    )
    bot.start()
    with ThreadPoolExecutor(4) as askers:
        answers = list(askers.map(bot.act, QUESTIONS[:4]))
    assert [answer.game for answer in answers] == [0, 1, 2, 3]


FAILS = """
def choose(turn):
    print("thinking", end="")
    {}
run(choose)"""


@pytest.mark.parametrize(
    ("statement", "last", "method"),
    [
        ("return {}['4C']", "KeyError: '4C'", "act"),
        ("raise SystemExit('I give up')", "SystemExit: I give up", "play"),
    ],
)
def test_an_exception_ends_the_process_and_its_traceback_is_the_end_of_the_output(
    launch: Launch, statement: str, last: str, method: str
) -> None:
    bot = launch(FAILS.format(statement))
    with pytest.raises(grpc.RpcError):
        bot.act(question()) if method == "act" else bot.play(QUESTIONS)
    status, written = bot.ended()
    assert status == 1
    assert written.startswith("thinkingTraceback")
    assert f"in choose\n    {statement}\n" in written
    assert written.splitlines()[-1] == last


@pytest.mark.parametrize("hook", ["start", "end"])
def test_an_exception_at_the_start_or_the_end_is_a_crash_too(launch: Launch, hook: str) -> None:
    bot = launch(f"{REMEMBERS}\nMine.{hook} = lambda self, request: 1 / 0\nrun(Mine())")
    with pytest.raises(grpc.RpcError):
        bot.start() if hook == "start" else bot.end()
    status, written = bot.ended()
    assert (status, written.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")


def test_sigterm_flushes_the_output_of_a_bot(launch: Launch) -> None:
    bot = launch('run(lambda turn: print("half a line", end="") or turn.legal[0])')
    bot.act(question())
    assert bot.terminated() == (0, "half a line")


def test_sigterm_ends_a_busy_bot(launch: Launch) -> None:
    bot = launch('import time\nrun(lambda turn: print("hm") or time.sleep(1000))')
    pending = bot.stub.Act.future(question(), wait_for_ready=True, timeout=PATIENCE)
    assert bot.popen.stdout is not None
    assert bot.popen.stdout.readline() == "hm\n"
    assert bot.terminated() == (0, "")
    assert isinstance(pending.exception(timeout=PATIENCE), grpc.RpcError)


def test_sigterm_that_arrives_in_another_thread_ends_a_bot(launch: Launch) -> None:
    ends = "signal.pthread_kill(threading.get_ident(), signal.SIGTERM)"
    bot = launch(
        "import signal, threading, time\n"
        f'run(lambda turn: print("hm") or {ends} or time.sleep(1000))'
    )
    pending = bot.stub.Act.future(question(), wait_for_ready=True, timeout=PATIENCE)
    assert bot.ended() == (0, "hm\n")
    assert isinstance(pending.exception(timeout=PATIENCE), grpc.RpcError)


def test_a_late_bot_answers_the_next_stream(launch: Launch) -> None:
    bot = launch("import time\nrun(lambda turn: time.sleep(turn.luck / 1000) or turn.legal[0])")
    bot.start()
    late = bot.stub.Play(iter([bot_pb2.PlayRequest(questions=[question(luck=300)])]), timeout=0.1)
    with pytest.raises(grpc.RpcError):
        next(late)
    assert [a.game for m in bot.play([question(game=9)]) for a in m.answers] == [9]


def test_a_message_above_the_default_limit_of_grpc_is_answered(random_bot: Process) -> None:
    long = question()
    long.view.poke.discards.extend(["2C"] * 20_000)
    (message,) = random_bot.play([long] * 64)
    assert len(message.answers) == 64


def test_a_bot_started_manually_prints_a_command_to_play() -> None:
    ran = subprocess.run(
        [sys.executable, "bot.py"], cwd=STARTER, env={}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "pokearena play poke . sample:random" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_starter_works_when_it_is_copied_out_of_the_repository(
    launch: Launch, tmp_path: Path
) -> None:
    folder = tmp_path / "mybot"
    copy_kit("python", folder)
    program = folder / "own.py"
    program.write_text(
        "import pokearena_bot\nfrom pokearena.v1 import bot_pb2\n"
        "for module in (pokearena_bot, bot_pb2): print(module.__file__)\n"
        "pokearena_bot.run(lambda turn: turn.legal[0])\n"
    )
    starter, witness = launch(folder / "bot.py"), launch(program)
    assert starter.act(question(luck=1)).action in question().legal
    assert witness.act(question()).action == question().legal[0]
    _, written = witness.terminated()
    assert all(Path(line).is_relative_to(folder) for line in written.splitlines())
    assert len(written.splitlines()) == 2

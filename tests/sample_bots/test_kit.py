"""Test the Python kit with real bot processes, over their sockets."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from pokearena.v1 import bot_pb2

from arena.cli.bots.new import copy_kit
from tests.sample_bots.processes import PATIENCE, Process, question, started

ROOT = Path(__file__).parent.parent.parent
STARTER = ROOT / "sample_bots" / "python"
HOUSE = ROOT / "sample_bots" / "house"


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
            if file.is_relative_to(ROOT):
                address = f"unix:{tmp_path / (file.parent.name + '.sock')}"
            return stack.enter_context(started([sys.executable, file.name], file.parent, address))

        yield start_one


QUESTIONS = [question(luck=7 * n, game=n, decision=3 * n) for n in range(20)]
AT_RANDOM = "run(lambda turn: random.choice(turn.legal))"


def test_a_bot_of_three_lines_answers_one_of_the_listed_actions(launch: Launch) -> None:
    assert launch(AT_RANDOM).act(question()).action in question().legal


def test_act_and_play_give_equal_answers(launch: Launch) -> None:
    bot = launch(AT_RANDOM)
    one_by_one = [bot.act(request) for request in QUESTIONS]
    streamed = bot.play(*([request] for request in QUESTIONS))
    assert [answer for message in streamed for answer in message.answers] == one_by_one


def test_questions_of_one_message_are_answered_in_one_message(launch: Launch) -> None:
    messages = launch(AT_RANDOM).play(QUESTIONS[:15], QUESTIONS[15:])
    assert [len(message.answers) for message in messages] == [15, 5]
    answered = [(a.game, a.decision) for message in messages for a in message.answers]
    assert answered == [(request.game, request.decision) for request in QUESTIONS]


def test_a_repeated_question_gets_the_same_answer_from_any_process(launch: Launch) -> None:
    once, again = launch(AT_RANDOM), launch(AT_RANDOM)
    first = [once.act(request) for request in QUESTIONS]
    assert [again.act(request) for request in reversed(QUESTIONS)] == first[::-1]


def test_other_luck_changes_random_answers(launch: Launch) -> None:
    bot = launch(AT_RANDOM)
    assert len({bot.act(request).action.SerializeToString() for request in QUESTIONS}) > 1


def test_an_answer_may_carry_a_note(launch: Launch) -> None:
    answer = launch('run(lambda turn: (turn.legal[2], "the five is low"))').act(question())
    assert (answer.action, answer.note) == (question().legal[2], "the five is low")


def test_an_answer_may_be_an_action_that_is_not_listed(launch: Launch) -> None:
    built = 'Action(poke={"draw": {"discards": ["2C", "5D"]}})'
    bot = launch(f"from pokearena.v1.bot_pb2 import Action\nrun(lambda turn: {built})")
    assert list(bot.act(question()).action.poke.draw.discards) == ["2C", "5D"]


REMEMBERS = """
class Mine:
    def __init__(self): print("made")
    def start(self, start): print("start", start.game)
    def act(self, turn): print("act", turn.decision); return turn.legal[0]
    def end(self, end): print("end", end.match)
"""


@pytest.mark.parametrize("given", ["Mine", "Mine()"])
def test_a_bot_object_receives_start_and_end_once(launch: Launch, given: str) -> None:
    bot = launch(f"{REMEMBERS}\nrun({given})")
    bot.start()
    bot.play([question(decision=4)], [question(decision=6)])
    bot.end()
    status, written = bot.terminated()
    assert written.splitlines() == ["made", "start poke", "act 4", "act 6", "end m-test"]
    assert status == 0


def test_a_bot_with_only_act_accepts_start_and_end(launch: Launch) -> None:
    bot = launch("class Mine:\n    def act(self, turn): return turn.legal[1]\nrun(Mine())")
    bot.start()
    assert bot.act(question()).action == question().legal[1]
    bot.end()


@pytest.mark.parametrize(
    ("bot", "games"),
    [
        (AT_RANDOM, 16),
        ("run(random.choice, games_in_flight=3)", 3),
        (f"{REMEMBERS}\nrun(Mine())", 1),
        (f"{REMEMBERS}\nrun(Mine(), games_in_flight=5)", 5),
        (f"{REMEMBERS}\nMine.games_in_flight = 6\nrun(Mine)", 6),
        (
            f"{REMEMBERS}\nfrom pokearena.v1.bot_pb2 import StartResponse\n"
            "Mine.start = lambda self, start: StartResponse(games_in_flight=start.games)\n"
            "run(Mine())",
            40,
        ),
    ],
)
def test_games_in_flight_depend_on_function_or_object(launch: Launch, bot: str, games: int) -> None:
    assert launch(bot).start(games=40).games_in_flight == games


def test_a_bot_can_request_questions_without_legal_actions(launch: Launch) -> None:
    program = (
        f"{REMEMBERS}\nfrom pokearena.v1.bot_pb2 import StartResponse\n"
        "Mine.start = lambda self, start: StartResponse(without_legal=True)\nrun(Mine())"
    )
    expected = bot_pb2.StartResponse(without_legal=True, games_in_flight=1)
    assert launch(program).start() == expected


def test_a_bot_can_request_texts_and_answer_in_words(launch: Launch) -> None:
    program = (
        f"{REMEMBERS}\nfrom pokearena.v1.bot_pb2 import StartResponse\n"
        "Mine.start = lambda self, start: StartResponse(with_text=True)\n"
        "Mine.act = lambda self, turn: (turn.text[::-1], 'a note')\nrun(Mine())"
    )
    bot = launch(program)
    assert bot.start().with_text
    asked = question()
    asked.text = "dnats"
    answer = bot.act(asked)
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
    ("statement", "last"),
    [
        ("return {}['4C']", "KeyError: '4C'"),
        ("raise SystemExit('I give up')", "SystemExit: I give up"),
    ],
)
@pytest.mark.parametrize("method", ["act", "play"])
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


@pytest.mark.parametrize(("given", "kind"), [("None", "NoneType"), ("turn.view", "View")])
def test_an_answer_that_is_not_an_action_is_an_exception(
    launch: Launch, given: str, kind: str
) -> None:
    bot = launch(f"run(lambda turn: {given})")
    with pytest.raises(grpc.RpcError):
        bot.act(question())
    status, written = bot.ended()
    assert status == 1
    assert written.splitlines()[-1] == (
        f'TypeError: return one of turn.legal, another Action, or (action, "a note"), not {kind}'
    )


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


def test_a_message_above_the_default_limit_of_grpc_is_answered(launch: Launch) -> None:
    long = question()
    long.view.poke.discards.extend(["2C"] * 20_000)
    (message,) = launch(AT_RANDOM).play([long] * 64)
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


def test_the_house_bot_meek_takes_the_first_listed_action(launch: Launch) -> None:
    bot = launch(HOUSE / "meek" / "bot.py")
    assert all(bot.act(request).action == request.legal[0] for request in QUESTIONS)


def test_the_house_bot_random_takes_any_of_them(launch: Launch) -> None:
    bot = launch(HOUSE / "random" / "bot.py")
    taken = {question().legal[:].index(bot.act(question(luck=n)).action) for n in range(200)}
    assert taken == set(range(6))

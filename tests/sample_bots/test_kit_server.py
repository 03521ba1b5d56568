"""Test the server of the Python kit where it differs from the server of grpcio."""

import queue
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from pokearena.v1 import bot_pb2

from tests.sample_bots.processes import PATIENCE, Process, question, started

FIRST = "run(lambda turn: turn.legal[0])"
LONG_NOTE = 'run(lambda turn: (turn.legal[0], "x" * 100_000))'
THREADS = "import threading\nrun(lambda turn: (turn.legal[0], str(threading.active_count())))"


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def launched(processes: ExitStack, folder: Path, program: str, before: str = "") -> Process:
    """Start a bot from its text; ``before`` runs before the kit is imported."""
    file = folder / "bot.py"
    file.write_text(f"{before}\nfrom pokearena_bot import run\n{program}\n")
    address = f"unix:{folder / 'bot.sock'}"
    return processes.enter_context(started([sys.executable, file.name], folder, address))


def test_a_question_is_answered_in_the_thread_of_its_connection(
    processes: ExitStack, tmp_path: Path
) -> None:
    assert launched(processes, tmp_path, THREADS).act(question()).note == "2"


def test_a_bot_without_hpack_is_served_by_grpcio(processes: ExitStack, tmp_path: Path) -> None:
    bot = launched(processes, tmp_path, THREADS, "import sys\nsys.modules['hpack'] = None")
    assert int(bot.act(question()).note) > 2
    (message,) = bot.play([question(game=4)])
    assert [answer.game for answer in message.answers] == [4]


def test_answers_above_the_flow_control_window_arrive(processes: ExitStack, tmp_path: Path) -> None:
    bot = launched(processes, tmp_path, LONG_NOTE)
    (message,) = bot.play([question(game=n) for n in range(30)])
    assert [len(answer.note) for answer in message.answers] == [100_000] * 30


def test_calls_are_served_while_a_stream_is_idle(processes: ExitStack, tmp_path: Path) -> None:
    bot = launched(processes, tmp_path, FIRST)
    requests: queue.SimpleQueue[bot_pb2.PlayRequest | None] = queue.SimpleQueue()
    stream = bot.stub.Play(iter(requests.get, None), timeout=PATIENCE, wait_for_ready=True)
    requests.put(bot_pb2.PlayRequest(questions=[question(game=1)]))
    assert [answer.game for answer in next(stream).answers] == [1]
    assert bot.act(question(game=2)).game == 2
    (message,) = bot.play([question(game=3)])
    assert [answer.game for answer in message.answers] == [3]
    requests.put(bot_pb2.PlayRequest(questions=[question(game=4)]))
    assert [answer.game for answer in next(stream).answers] == [4]
    requests.put(None)
    assert list(stream) == []


def test_an_unknown_method_and_an_invalid_request_get_a_status(
    processes: ExitStack, tmp_path: Path
) -> None:
    bot = launched(processes, tmp_path, FIRST)
    bot.act(question())
    service = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
    with grpc.insecure_channel(bot.address) as channel:
        for method, status in (
            ("Resign", grpc.StatusCode.UNIMPLEMENTED),
            ("Act", grpc.StatusCode.INTERNAL),
        ):
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
                f"/{service}/{method}"
            )
            with pytest.raises(grpc.RpcError) as failure:
                call(b"\xff\xff", timeout=PATIENCE)
            assert failure.value.code() is status

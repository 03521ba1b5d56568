"""Start bot processes as the arena does, and send them questions."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.socket_probe import authority

PATIENCE = 100
"""Seconds within which a bot starts and answers, also on a busy machine."""
CHANNEL: list[tuple[str, Any]] = [
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
]


@dataclass(frozen=True)
class Process:
    """Hold a running bot process and its gRPC client."""

    popen: subprocess.Popen[str]
    stub: Any
    address: str

    def act(self, question: bot_pb2.ActRequest) -> bot_pb2.ActResponse:
        answer: bot_pb2.ActResponse = self.stub.Act(question, wait_for_ready=True, timeout=PATIENCE)
        return answer

    def play(self, *batches: list[bot_pb2.ActRequest]) -> list[bot_pb2.PlayResponse]:
        """Send these batches of questions in a Play call and return the answers."""
        requests = [bot_pb2.PlayRequest(questions=batch) for batch in batches]
        return list(self.stub.Play(iter(requests), wait_for_ready=True, timeout=PATIENCE))

    def start(self, **fields: Any) -> bot_pb2.StartResponse:
        request = bot_pb2.StartRequest(match="m-test", game="poke", seats=2, **fields)
        response: bot_pb2.StartResponse = self.stub.Start(
            request, wait_for_ready=True, timeout=PATIENCE
        )
        return response

    def end(self) -> None:
        self.stub.End(bot_pb2.EndRequest(match="m-test"), wait_for_ready=True, timeout=PATIENCE)

    def ended(self) -> tuple[int, str]:
        """Wait for the process to end; return its exit status and its output."""
        written, _ = self.popen.communicate(timeout=PATIENCE)
        return self.popen.returncode, written

    def terminated(self) -> tuple[int, str]:
        """Send SIGTERM, wait for the process to end, and return its exit status and its output."""
        self.popen.send_signal(signal.SIGTERM)
        return self.ended()


@contextmanager
def started(command: Sequence[str | Path], folder: Path, address: str) -> Iterator[Process]:
    """Start a bot as the arena does: its environment contains its address only."""
    with ExitStack() as stack:
        popen = subprocess.Popen(
            command,
            cwd=folder,
            env={"POKEARENA_ADDRESS": address},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        stack.callback(popen.communicate)
        stack.callback(popen.kill)
        channel = stack.enter_context(
            grpc.insecure_channel(address, options=CHANNEL + authority(address))
        )
        yield Process(popen, bot_pb2_grpc.BotServiceStub(channel), address)


def question(luck: int = 0, game: int = 0, decision: int = 0) -> bot_pb2.ActRequest:
    cards = ("2C", "5D", "9H", "JS", "AS")
    request = bot_pb2.ActRequest(match="m-test", game=game, decision=decision, luck=luck)
    request.view.poke.phase = "draw"
    request.view.poke.hand.extend(cards)
    request.legal.add().poke.stand.SetInParent()
    for card in cards:
        request.legal.add().poke.draw.discards.append(card)
    return request

"""Provide a relay, connectors, and a connection between them that tests can cut."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc
from sqlalchemy import Engine

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.config import Folder
from arena.matches.remote_seats import RemoteSeats
from arena.store import database
from arena.store.bots import remote_bots
from arena.system import grpc_probe
from arena.system.tunnel.endpoint import TunnelEndpoint
from tests.arena.cli.terminal import POKEARENA
from tests.waiting import wait_until

ELSEWHERE = "unix:/elsewhere/control.sock"
BOT = """
import os, sys, time
from concurrent import futures
from pathlib import Path
import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

HOME = Path(sys.argv[1])
counts = {"started": 0, "questions": 0}

class Bot(bot_pb2_grpc.BotServiceServicer):
    def Start(self, request, context):
        counts["started"] += 1
        return bot_pb2.StartResponse(games_in_flight=3)

    def _answer(self, question):
        counts["questions"] += 1
        if (HOME / "die").exists():
            os._exit(7)
        with (HOME / "questions").open("a") as log:
            print(question.game, question.decision, file=log)
        while (HOME / "wait").exists():
            (HOME / "waits").touch()
            time.sleep(0.01)
        note = f"{os.getpid()} {counts['started']} {counts['questions']}"
        return bot_pb2.ActResponse(game=question.game, decision=question.decision, note=note)

    def Act(self, request, context):
        return self._answer(request)

    def Play(self, requests, context):
        for request in requests:
            for question in request.questions:
                yield bot_pb2.PlayResponse(answers=[self._answer(question)])

server = grpc.server(futures.ThreadPoolExecutor(4))
bot_pb2_grpc.add_BotServiceServicer_to_server(Bot(), server)
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
"""
"""Answers with notes of its process id and counts; waits while a file named `wait` exists."""


class Relay:
    """Run a relay with a store for a `with` block.

    hidden: whether the control address in the store is unreachable, as from another machine.
    """

    def __init__(self, directory: Path, *options: str, hidden: bool = False) -> None:
        self.where = Folder(directory / "data").create()
        self.engine: Engine = database.open(self.where.database_url({}))
        database.upgrade(self.engine)
        self._options = options
        self._sockets = Path(tempfile.mkdtemp(prefix="relay-"))
        self.control = f"unix:{self._sockets}/control.sock"
        self._control_seen_by_others = "unix:control.sock" if hidden else self.control
        self._port = self._sockets / "port"
        self.log = directory / "relay.log"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.engine.dispose()

    @property
    def port(self) -> int:
        return int(self._port.read_text())

    def start(self) -> None:
        port = self._port.read_text() if self._port.exists() else "0"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "arena.remote.relay"),
                    *(f"--listen=127.0.0.1:{port}", f"--control={self._control_seen_by_others}"),
                    *(f"--sockets={self._sockets}", f"--port={self._port}"),
                    *self._options,
                ],
                env={**os.environ, "POKEARENA_DATA": str(self.where.root)},
                cwd=self._sockets,
                stderr=log,
            )
        wait_until(lambda: self._port.exists() and grpc_probe.answers(self.control))

    def stop(self, number: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait()

    def add(self, name: str) -> tuple[str, str]:
        """Register a remote bot; return its version and token."""
        version, token = remote_bots.add_relayed(self.engine, name, "1")
        return version.id, token

    @contextmanager
    def connected(
        self, directory: Path, name: str, *options: str, named: str = ""
    ) -> Iterator[tuple[str, "AuthorMachine"]]:
        """Register a remote bot and connect it from a new author's machine."""
        version, token = self.add(name)
        with AuthorMachine(directory, self.port, token, *options, named=named) as home:
            wait_until(lambda: self.is_here(version))
            yield version, home

    def way(self, version: str, port: int | None = None) -> TunnelEndpoint:
        """Return the tunnel endpoint of a bot; port: that of a cable instead of the relay's."""
        way = TunnelEndpoint.read(remote_bots.relay_address(self.engine, version).tunnel or {})
        return way if port is None else replace(way, address=f"127.0.0.1:{port}")

    def is_here(self, version: str) -> bool:
        bot = remote_bots.find_remote_bot(self.engine, version)
        return bot is not None and bot.is_connected

    @contextmanager
    def seated(
        self, version: str, match: str = "m-1", way: TunnelEndpoint | None = None
    ) -> Iterator["SeatClient"]:
        """Reserve a seat for the bot, as a worker does, and connect to it, as a referee does.

        way: the tunnel endpoint of the relay, for a worker on another machine.
        """
        table = SeatClient()
        with RemoteSeats(match, table.ended.append, table.lost.append) as relayed:
            bot = Bot(version, relay=ELSEWHERE if way else self.control, tunnel=way)
            address = relayed.start(0, bot)
            table.report = lambda: relayed.report(0)
            with grpc.insecure_channel(address) as channel:
                table.bot = bot_pb2_grpc.BotServiceStub(channel)
                yield table


class SeatClient:
    """Send the requests of a referee to a seat."""

    def __init__(self) -> None:
        self.bot: Any = None
        self.ended: list[Report] = []
        self.lost: list[str] = []
        self.report: Callable[[], Report]

    def start(self) -> bot_pb2.StartResponse:
        request = bot_pb2.StartRequest(match="m-1", game="poke", seats=2, games=1)
        answer: bot_pb2.StartResponse = self.bot.Start(request, wait_for_ready=True)
        return answer

    def act(self, decision: int) -> Any:
        """Send a question; `result()` of the returned future waits for the answer."""
        return self.bot.Act.future(bot_pb2.ActRequest(game=1, decision=decision))

    def open_question(self, home: "AuthorMachine") -> Any:
        """Start the bot and send it a question, at which it waits; return the call."""
        self.start()
        (home.folder / "wait").touch()
        call = self.act(1)
        wait_until(lambda: home.questions() == ["1 1"])
        return call


class AuthorMachine:
    """Run an author's machine: a connector and its bot.

    where: the relay's port on this machine, or its URL.
    bot: the program.
    named: a bot name instead of the command for the program.
    """

    def __init__(
        self,
        directory: Path,
        where: int | str,
        token: str,
        *options: str,
        bot: str = BOT,
        named: str = "",
    ) -> None:
        self._named = named
        self.folder = directory / f"home-{secrets.token_hex(4)}"
        self.folder.mkdir()
        (self.folder / "bot.py").write_text(bot)
        url = where if isinstance(where, str) else f"grpc://127.0.0.1:{where}"
        self._words = (url, "--token", token, *options)
        self.events: list[dict[str, Any]] = []
        self.start()

    def start(self) -> None:
        program = ("--", sys.executable, "bot.py", str(self.folder))
        bot = (self._named,) if self._named else program
        with (self.folder / "stderr").open("ab") as stderr:
            self.process = subprocess.Popen(
                [POKEARENA, "bot", "connect", *self._words, "--json", *bot],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,))
        self._reader.start()

    def _read(self, lines: Any) -> None:
        with contextlib.closing(lines):
            for line in lines:
                self.events.append(json.loads(line))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()

    def hold(self) -> None:
        """Make the bot wait at its next question until `wait` is deleted; return when it waits."""
        (self.folder / "wait").touch()
        wait_until((self.folder / "waits").exists)

    @property
    def output(self) -> str:
        return (self.folder / "stderr").read_text()

    def has_event(self, event: str) -> bool:
        return any(entry["event"] == event for entry in self.events)

    def questions(self) -> list[str]:
        log = self.folder / "questions"
        return log.read_text().splitlines() if log.exists() else []


class TcpForwarder:
    """Forward connections to a TCP port; tests can cut and restore them."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._ends: list[socket.socket] = []
        self._cut = False
        self._changing = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._listening.close()

    def cut(self) -> None:
        with self._changing:
            self._cut = True
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._ends.clear()

    def mend(self) -> None:
        self._cut = False

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            with self._changing:
                if self._cut:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    near.close()
                    continue
                self._ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        source.close()

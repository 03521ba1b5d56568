"""Run the bot processes of one table through the sandbox launcher that owns them."""

import contextlib
import json
import logging
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import arena
from arena.bots.bot import Bot
from arena.bots.exit_report import Limits, Report, clause, ending
from arena.bots.sandbox import runtimes, view
from arena.bots.sandbox.level import Level, bubblewrap, refusal
from arena.bots.sandbox.user_ids import ALL_IN_USE
from arena.bots.socket_probe import listens
from arena.errors import BotError, InfrastructureError
from arena.system import socket_paths
from arena.system.process_info import require_linux
from referee.games import game_packages
from referee.sanitizing import quote, sanitized

LAUNCHER: Final = (
    "import sys; sys.path.append(sys.argv[2]); from arena.bots.sandbox.launcher import main; main()"
)
SOCKET: Final = "bot"
LONGEST_SOCKET: Final = 100
"""Maximum length of a socket path in characters: Linux allows 107, other systems a few less."""
ANSWER_SECONDS: Final = 10.0
"""Seconds after which a launcher that does not answer counts as failed."""
ENDING_SECONDS: Final = 2.0
"""Time limit in seconds for an exit in progress; on a busy machine it takes more than 0.05 s."""
EXIT_SECONDS: Final = 0.3
"""Seconds to wait for the exit of a bot that no longer listens."""
SANDBOX_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
"""PATH of a sandboxed bot."""
MODEL_SOCKET: Final = "POKEARENA_MODEL_SOCKET"
"""Variable with the path of the Unix socket at which a bot reaches its models."""
PLACE: Final = "/bot"
"""Where a sandboxed bot of the arena sees its folder."""
AUTHOR_VARIABLES: Final = (
    *("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
)
"""Variables of a bot that its author runs with the network, besides the key of its model."""
_LOST: Final = "the sandbox launcher ended by itself."

log = logging.getLogger("arena.worker")


@dataclass(slots=True)
class _Process:
    seat: int
    address: str
    end: Report | None = None
    tail: Report | None = None
    ending: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class BuildRights:
    """Additional rights of a build command: write access to the bot's folder."""

    network: bool = False
    """Whether the build has network access."""


class Processes:
    """Starts, watches and ends the bot processes of one table. Safe to use from many threads.

    Both callbacks are called from any thread and with a lock held: they must return at once.

    Args:
        on_end: called with the report of each process that ends without having been stopped.
        on_lost: called with a sentence if the launcher exits unexpectedly, an infrastructure fault.
        limits: the limits of each process.
        level: the isolation level of the bots.
        build_rights: additional rights of build commands; None for bots that play.
    """

    def __init__(
        self,
        on_end: Callable[[Report], None] = lambda report: None,
        on_lost: Callable[[str], None] = lambda sentence: None,
        limits: Limits | None = None,
        *,
        level: Level,
        build_rights: BuildRights | None = None,
    ) -> None:
        require_linux(
            "The arena starts bots",
            "Or start the bot yourself and give its address, grpc://HOST:PORT.",
        )
        self._on_end = on_end
        self._on_lost = on_lost
        self._limits = limits or Limits()
        self._build_rights = build_rights
        self.level = level
        self._changed = threading.Condition(threading.RLock())
        self._processes: list[_Process] = []
        self._written: dict[int, int] = {}
        self._closing = False
        self._lost = ""
        root = str(Path(arena.__file__).parent.parent)
        self._launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(os.getpid()), root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The environment is empty because a bot could read it in /proc. With a separate
            # session, Ctrl-C in a terminal reaches only the arena.
            env={},
            cwd="/",
            start_new_session=True,
            # A bot does not see the umask of the arena, and its user reads what a build leaves.
            umask=0o022,
        )
        self._reader = threading.Thread(target=self._listen, name="bot-launcher", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, seat: int, bot: Bot) -> str:
        """Start a process for a seat and return the gRPC address at which it must listen.

        A program that cannot be started does not raise an error: it is reported as ended.

        Raises:
            InfrastructureError: the bot is not trusted and a sandbox is not available, or the
                launcher has exited.
        """
        if reason := refusal(bot.label, bot.trusted, self.level):
            raise InfrastructureError(reason, code="no-sandbox")
        directory = _fresh_directory()
        address = f"unix:{directory}/{SOCKET}"
        process = _Process(seat, address)
        with self._changed:
            number = len(self._processes)
            self._processes.append(process)
            try:
                grants = runtimes.bot_grants(bot)
            except BotError as error:
                self._end(process, Report(seat, f"could not be started: {quote(str(error))}"))
                return address
            limits = asdict(self._limits)
            limits["output"] -= self._written.get(seat, 0)
            start = {"argv": grants.argv, "cwd": str(bot.folder), "directory": directory}
            level = level_of(bot, self.level)
            self._send(
                {"do": "start", "bot": number, "limits": limits, "level": level, **start}
                | self._environment(bot, grants, directory, address)
            )
        return address

    def _environment(
        self, bot: Bot, grants: runtimes.Grants, directory: str, address: str
    ) -> dict[str, object]:
        """Build the part of a start command with the environment and the visible files."""
        env = {"POKEARENA_ADDRESS": address}
        if bot.network_key is not None:
            return {"env": env | _author_environment(bot.network_key)}
        if self.level is Level.UNSANDBOXED:
            sockets = {} if bot.model_socket is None else {MODEL_SOCKET: str(bot.model_socket)}
            return {"env": env | sockets}
        if packages := os.environ.get(game_packages.SETTING):
            # Bots that search import the rules of games of packages as the referee does.
            env[game_packages.SETTING] = packages
        env |= {"PATH": SANDBOX_PATH, "HOME": directory, "TMPDIR": directory, "LANG": "C.UTF-8"}
        read = list(grants.read)
        assert bot.folder is not None
        own = str(bot.folder if bot.file is None else bot.folder / bot.file)
        start: dict[str, object] = {
            "env": env,
            "bwrap": bubblewrap() or "",
            "own": own,
            # The folder of a stored version would show where the arena keeps its data.
            "place": PLACE if bot.content or self._build_rights is not None else own,
            "system": grants.system,
            "read": read,
            "listed": grants.listed,
        }
        if bot.model_socket is not None:
            env[MODEL_SOCKET] = view.MODELS
            start["models"] = str(bot.model_socket)
        if self._build_rights is not None:
            homes = runtimes.toolchains()
            env |= {"UV_PYTHON": sys.executable, **homes}
            read += homes.values()
            if grants.folder:
                env["PATH"] = f"{grants.folder}:{SANDBOX_PATH}"
                read.append(grants.folder)
            start |= {"builds": True, "network": self._build_rights.network}
        return start

    def report(self, seat: int, patience: float = EXIT_SECONDS) -> Report:
        """Return a report on the latest process of a seat.

        An exit in progress is awaited. If the process no longer listens, it may be about to exit:
        the call waits for that up to `patience` seconds.
        """
        with self._changed:
            number, process = self._latest(seat)
        # Probed without the lock, because it can take some tenths of a second.
        has_stopped_listening = process.end is None and not listens(process.address)
        with self._changed:
            report, is_ending = self._current_report(number, process)
            if has_stopped_listening and not is_ending and not report.ended:
                self._changed.wait_for(lambda: process.end or self._lost, patience)
                report, is_ending = self._current_report(number, process)
            if is_ending and not report.ended:
                self._changed.wait_for(lambda: process.end or self._lost, ENDING_SECONDS)
                report, _ = self._current_report(number, process)
            return report

    def _current_report(self, number: int, process: _Process) -> tuple[Report, bool]:
        """Return the current report of a process, and whether the process is about to end."""
        process.tail = None
        if process.end is None:
            self._send({"do": "tail", "bot": number})
            self._await(lambda: bool(process.tail or process.end))
        report = process.end or process.tail
        assert report is not None
        return report, process.ending

    def await_end(self, seat: int, seconds: float) -> Report | None:
        """Return the report of the latest process of a seat when it ends; None after `seconds`.

        Raises:
            InfrastructureError: the launcher or the sandbox failed before; raised at once.
        """
        with self._changed:
            _, process = self._latest(seat)
            self._changed.wait_for(lambda: process.end or self._lost, seconds)
            if process.end is None and self._lost:
                raise InfrastructureError(self._lost, code=lost_code(self._lost))
            return process.end

    def stop(self, *seats: int) -> None:
        """End the processes of these seats with all their descendants; return when all are gone."""
        with self._changed:
            ending = [self._latest(seat) for seat in seats]
            for number, process in ending:
                process.stopped = True
                if process.end is None:
                    self._send({"do": "stop", "bot": number})
            self._await(lambda: all(process.end for _, process in ending))

    def ends(self, seat: int) -> tuple[Report, ...]:
        """Return the reports of all ended processes of a seat, in the start of their starts."""
        with self._changed:
            return tuple(
                process.end for process in self._processes if process.seat == seat and process.end
            )

    def close(self) -> None:
        """Kill all remaining processes and the launcher."""
        with self._changed:
            self._closing = True
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._launcher.stdin.close()
        try:
            self._launcher.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()
        self._reader.join(ANSWER_SECONDS)
        self._launcher.stdout.close()

    def _latest(self, seat: int) -> tuple[int, _Process]:
        for number in reversed(range(len(self._processes))):
            if self._processes[number].seat == seat:
                return number, self._processes[number]
        raise KeyError(f"no process was started for seat {seat}")

    def _send(self, command: dict[str, object]) -> None:
        if self._lost:
            raise InfrastructureError(self._lost, code=lost_code(self._lost))
        assert self._launcher.stdin is not None
        try:
            self._launcher.stdin.write(json.dumps(command).encode() + b"\n")
            self._launcher.stdin.flush()
        except OSError:
            raise InfrastructureError(_LOST, code="launcher-lost") from None

    def _await(self, condition: Callable[[], bool]) -> None:
        if not self._changed.wait_for(lambda: self._lost or condition(), ANSWER_SECONDS):
            raise InfrastructureError(
                f"the sandbox launcher did not answer within {ANSWER_SECONDS:.0f} s.",
                code="launcher-timeout",
            )
        if self._lost and not condition():
            raise InfrastructureError(self._lost, code=lost_code(self._lost))

    def _listen(self) -> None:
        assert self._launcher.stdout is not None
        sentence = _LOST
        try:
            for line in self._launcher.stdout:
                with self._changed:
                    self._receive(json.loads(line))
        except Exception as error:
            log.exception("a report of the sandbox launcher cannot be read")
            sentence = f"A report of the sandbox launcher cannot be read.\n{error!r}"
        with self._changed:
            if not self._closing:
                self._lose(sentence)
            self._changed.notify_all()

    def _lose(self, sentence: str) -> None:
        self._lost = sentence
        self._on_lost(sentence)
        self._changed.notify_all()

    def _receive(self, report: dict[str, Any]) -> None:
        process = self._processes[report["bot"]]
        output = sanitized(report["output"])
        if report["event"] == "tail":
            peak = report["peak_memory"]
            process.tail = Report(process.seat, output=output, peak_memory=peak)
            process.ending = report["ending"]
            self._changed.notify_all()
            return
        if report["broken"]:
            why = report["broken"]
            self._lose(why if why == ALL_IN_USE else f"The sandbox of a bot failed.\n{why}")
            return
        self._written[process.seat] = self._written.get(process.seat, 0) + report["written"]
        ended, resources = clause(report, self._limits)
        status, signal = ending(report)
        peak = report["peak_memory"]
        self._end(process, Report(process.seat, ended, resources, output, status, signal, peak))

    def _end(self, process: _Process, report: Report) -> None:
        process.end = report
        # The callback must run before a waiting thread can act on the end.
        if not process.stopped and not self._closing:
            self._on_end(report)
        self._changed.notify_all()


def level_of(bot: Bot, level: Level) -> Level:
    """Return the isolation level of a hosted bot at a table whose bots have this level."""
    return level if bot.network_key is None else Level.UNSANDBOXED


def _author_environment(key: str) -> dict[str, str]:
    """Return the variables of a bot that its author runs with the network.

    These are the key of its model, and what a client of HTTP needs.
    """
    return {name: os.environ[name] for name in (*AUTHOR_VARIABLES, key) if name in os.environ}


def lost_code(sentence: str) -> str:
    """Return the code of the failure that `on_lost` reports with a sentence."""
    return "launcher-lost" if sentence == _LOST else "sandbox-failed"


def _fresh_directory() -> str:
    """Return a path for a new private directory, short enough for a socket in it."""
    name = f"pokearena-bot-{secrets.token_hex(8)}"
    for base in (tempfile.gettempdir(), "/tmp"):
        directory = os.path.join(os.path.abspath(base), name)
        if len(f"{directory}/{SOCKET}") <= LONGEST_SOCKET and socket_paths.is_plain(directory):
            return directory
    raise AssertionError("a path under /tmp is short")

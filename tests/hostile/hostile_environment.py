"""The environment of a hostile program: a referee, an honest opponent, and files and sockets."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from arena.bots.bot import Bot, with_unique_labels
from arena.bots.exit_report import Report
from arena.bots.resolver import from_folder
from arena.bots.sandbox.level import Level
from arena.matches.runner import play_match
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant
from tests.arena.match_spec import poke_spec
from tests.guarded_process import GuardedProcess
from tests.hostile.corpus import PROGRAMS

SECRET = "MARKSECRET"
PARTS = ("honest.py", "wire.py", "flood.py")


@dataclass
class HostileOutcome:
    """The result of a match between an honest bot (entrant 0) and a hostile one."""

    games: list[PlayedGame] = field(default_factory=list)
    reports: dict[int, list[Report]] = field(default_factory=dict)

    def verdicts(self, entrant: int) -> list[str]:
        return [game.verdicts[entrant] for game in self.games]

    @property
    def sentences(self) -> list[str]:
        return [fault.sentence for game in self.games for fault in game.faulted]

    def output(self, entrant: int = 1) -> str:
        return "".join(report.output for report in self.reports[entrant])

    def bank_used(self, entrant: int) -> float:
        # The second table has the seats exchanged.
        return float(sum(game.tally["bank_ms"][entrant ^ game.table] for game in self.games))


class HostileEnvironment:
    """A referee, and files and sockets of an arena that a bot must not reach."""

    def __init__(self, folder: Path, referee: "subprocess.Popen[str]", address: str) -> None:
        self.folder = folder
        self.address = address
        self._referee = referee
        self._number = 0
        self._abstract = f"pokearena-hostile-{secrets.token_hex(8)}"
        self._doors = [_secret_socket(folder / "redis.sock"), _secret_socket(f"\0{self._abstract}")]
        self._ports = [_port(socket.SOCK_STREAM), _port(socket.SOCK_DGRAM)]
        for name in ("pokearena.db", "secret.txt"):
            (folder / name).write_text(SECRET)
        self.good = self.bot("honest_bot")

    def close(self) -> None:
        for door in (*self._doors, *self._ports):
            door.close()

    def bot(self, program: str) -> Bot:
        self._number += 1
        folder = self.folder / f"{self._number}-{program}"
        folder.mkdir()
        for part in PARTS:
            shutil.copyfile(PROGRAMS / part, folder / part)
        shutil.copyfile(PROGRAMS / f"{program}.py", folder / "bot.py")
        label = program.replace("_", "-")[:40]
        manifest = PROGRAMS / f"{program}.toml"
        if manifest.is_file():
            shutil.copyfile(manifest, folder / "bot.toml")
        else:
            (folder / "bot.toml").write_text(f'name = "{label}"\nrun = ["python", "bot.py"]\n')
        (folder / "targets.json").write_text(json.dumps(self._targets()))
        folder.chmod(0o755)
        return from_folder(folder)

    def _targets(self) -> dict[str, object]:
        """Return the files, sockets and ports that the programs try to reach."""
        tcp, udp = (port.getsockname()[1] for port in self._ports)
        return {
            "files": {
                "database": str(self.folder / "pokearena.db"),
                "secret": str(self.folder / "secret.txt"),
                "data": str(self.folder),
                "other_bot": str(self.folder / "1-honest_bot"),
                "other_program": str(self.folder / "1-honest_bot" / "bot.py"),
                "home": str(Path.home()),
            },
            "folders": {
                "data": str(self.folder),
                "other_bot": str(self.folder / "1-honest_bot"),
                "home": str(Path.home()),
            },
            "sockets": tempfile.gettempdir(),
            "redis": str(self.folder / "redis.sock"),
            "referee": self.address.removeprefix("unix:"),
            "abstract": self._abstract,
            "tcp": tcp,
            "udp": udp,
            "tester": os.getpid(),
        }

    def play(
        self, hostile: Bot, level: Level, bank_ms: int = 300, boards: int = 1
    ) -> HostileOutcome:
        """Play both tables of a match between an honest bot and a hostile one.

        The games of the outcome are sorted by table, then by board.
        """
        outcome = HostileOutcome()
        bots = with_unique_labels([self.good, hostile])
        spec = poke_spec(
            (
                Entrant(f"{bot.label}@1", f"{number:064x}", str(bot.folder), {})
                for number, bot in enumerate(bots)
            ),
            boards=boards,
            clock=Clock(allowance_ms=500, bank_ms=bank_ms, start_ms=5000),
        )

        def keep_reports(entrant: int, reports: Sequence[Report]) -> None:
            outcome.reports.setdefault(entrant, []).extend(reports)

        with patch("arena.bots.sandbox.available_levels.best_level", lambda: level):
            play_match(spec, self.address, bots, outcome.games.append, on_reports=keep_reports)
        outcome.games.sort(key=lambda game: (game.table, game.board))
        return outcome

    def memory(self) -> int:
        status = Path(f"/proc/{self._referee.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024


def _secret_socket(path: Path | str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    threading.Thread(target=_send_secret, args=(listener,), daemon=True).start()
    return listener


def _port(kind: socket.SocketKind) -> socket.socket:
    listener = socket.socket(socket.AF_INET, kind)
    listener.bind(("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        listener.listen()
        threading.Thread(target=_send_secret, args=(listener,), daemon=True).start()
    return listener


def _send_secret(listener: socket.socket) -> None:
    while True:
        try:
            visitor, _ = listener.accept()
        except OSError:
            return
        visitor.sendall(SECRET.encode())
        visitor.close()


@contextmanager
def started_world(folder: Path) -> Iterator[HostileEnvironment]:
    address = f"unix:{folder}/r.sock"
    with GuardedProcess(
        [sys.executable, "-m", "referee", "--address", address], stdout=subprocess.PIPE, text=True
    ) as referee:
        assert referee.stdout is not None
        try:
            referee.stdout.readline()
            world = HostileEnvironment(folder, referee, address)
            try:
                yield world
            finally:
                world.close()
        finally:
            referee.kill()

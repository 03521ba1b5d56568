"""Sandbox launcher: execute the owner's commands, and report the output and end of bots."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys

from arena.bots.sandbox import linux, memory_disk
from arena.bots.sandbox.init_process import InitProcess
from arena.bots.sandbox.sandbox import copy_of
from arena.bots.sandbox.start_command import BUBBLEWRAP, UNSANDBOXED, StartCommand
from arena.system import file_tree

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

HEAD = 4 * 1024
TAIL = 64 * 1024
CHUNK = 65536
OWNER_CHECK_SECONDS = 1.0
"""Seconds between two checks whether the owner is alive, in case its pipe stays open."""


class OutputBuffer:
    """The first 4 KiB and the last 64 KiB of a bot's output, and its total size."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.written = 0

    def add(self, data: bytes) -> None:
        """Append output."""
        self.written += len(data)
        room = HEAD - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-TAIL:]

    def text(self) -> str:
        """Return the stored output, with a line in place of the omitted part."""
        omitted = self.written - len(self.head) - len(self.tail)
        omission = f"\n[{omitted} bytes are omitted here]\n".encode() if omitted else b""
        return (self.head + omission + self.tail).decode("utf-8", "replace")


class StartedBot:
    """The launcher's state of a bot: the pipes to its init process, and its output."""

    def __init__(self, start_command: StartCommand) -> None:
        self.start_command = start_command
        self.init_pid = 0
        self.commands = -1
        self.reports = -1
        self.output = -1
        self.received = b""
        self.captured = OutputBuffer()
        self.flooded = False

    def start(self, others: list[StartedBot]) -> None:
        """Fork the init process, which starts the bot."""
        commands, self.commands = os.pipe()
        self.reports, reports = os.pipe()
        self.output, output = os.pipe()
        self.init_pid = os.fork()
        if self.init_pid == 0:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            # If an init process held the pipe of another bot, that pipe's end could not be
            # detected.
            for bot in (*others, self):
                bot.close()
            InitProcess(self.start_command, commands, reports, output).run()
        for end in (commands, reports, output):
            os.close(end)
        os.set_blocking(self.output, False)

    def drain(self, most: int) -> bool:
        """Read at most `most` bytes of output; return False at its end."""
        while most > 0:
            try:
                data = os.read(self.output, min(CHUNK, most))
            except BlockingIOError:
                return True
            if not data:
                return False
            self.captured.add(data)
            most -= len(data)
        return True

    def values_received(self) -> dict[str, str]:
        """Return the values sent by the init process, by keyword."""
        return dict(line.split(" ", 1) for line in self.received.decode().splitlines())

    def is_ending(self) -> bool:
        """Return whether the bot is about to end, so that its report will follow."""
        pid = self.values_received().get("pid")
        return self.flooded or (
            pid is not None and (linux.is_ending(int(pid)) or self.is_reaped(int(pid)))
        )

    def is_reaped(self, wrapper: int) -> bool:
        """Return whether bubblewrap runs no bot: it has reaped the bot and has yet to exit.

        It consists of two processes, and the inner one is the parent of the bot.
        """
        is_wrapped = self.start_command.level == BUBBLEWRAP
        return is_wrapped and len(linux.descendants(wrapper)) < 2

    def peak_memory(self) -> int:
        """Return the peak memory in bytes of its largest process so far."""
        pid = self.values_received().get("pid")
        return 0 if pid is None else linux.peak_memory(int(pid))

    def stop(self) -> None:
        """Request the bot to end; the init process kills it if it does not."""
        with contextlib.suppress(OSError):
            os.write(self.commands, b"stop\n")

    def kill(self) -> None:
        """Close the command pipe, so that the init process kills all processes of the bot."""
        if self.commands >= 0:
            os.close(self.commands)
            self.commands = -1

    def clear(self) -> None:
        """Remove files left by an init process that was killed."""
        memory_disk.remove_places(self.start_command.directory)
        file_tree.remove(copy_of(self.start_command.directory))

    def close(self) -> None:
        for end in (self.commands, self.reports, self.output):
            if end >= 0:
                os.close(end)
        self.commands = self.reports = self.output = -1


class Launcher:
    """All bots of one owner."""

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.bots: dict[int, StartedBot] = {}
        self.unread = b""

    def run(self) -> None:
        """Serve until the owner is gone; then no process or file of the bots is left."""
        try:
            while os.getppid() == self.owner and self.turn():
                pass
        finally:
            self.end()

    def turn(self) -> bool:
        """Wait for events and handle them; return False when the owner has closed the input."""
        reports = {bot.reports: number for number, bot in self.bots.items()}
        outputs = {bot.output: number for number, bot in self.bots.items() if bot.output >= 0}
        ready = select.select([0, *reports, *outputs], [], [], OWNER_CHECK_SECONDS)[0]
        for end in ready:
            if end in outputs:
                self.read_output(self.bots[outputs[end]])
        for end in ready:
            if end in reports:
                self.receive(reports[end])
        return self.run_commands() if 0 in ready else True

    def read_output(self, bot: StartedBot) -> None:
        if not bot.drain(4 * CHUNK):
            os.close(bot.output)
            bot.output = -1
        if bot.captured.written > bot.start_command.limits["output"] and not bot.flooded:
            bot.flooded = True
            bot.kill()

    def receive(self, number: int) -> None:
        bot = self.bots[number]
        data = os.read(bot.reports, CHUNK)
        bot.received += data
        if data:
            return
        os.waitpid(bot.init_pid, 0)
        del self.bots[number]
        self.sweep()
        if bot.output >= 0:
            # All writers are gone, and a pipe holds at most 1 MiB.
            bot.drain(16 * CHUNK)
        bot.close()
        bot.clear()
        self.report(number, bot)

    def report(self, number: int, bot: StartedBot) -> None:
        values = bot.values_received()
        status = int(values["status"]) if "status" in values else None
        broken = values.get("broken")
        if broken is None and "peak" not in values and bot.start_command.level != UNSANDBOXED:
            # An init process always sends "peak", and a sandboxed bot cannot kill it.
            broken = "its init process was killed"
        write_report(
            {
                "bot": number,
                "event": "ended",
                "output": bot.captured.text(),
                "written": bot.captured.written,
                "flooded": bot.flooded,
                "status": status,
                "peak_memory": 1024 * int(values.get("peak", 0)),
                "excess": values.get("excess", ""),
                "failed": values.get("failed"),
                "broken": broken,
            }
        )

    def sweep(self) -> None:
        """Kill the remaining processes of a bot whose init process was killed."""
        init_pids = {bot.init_pid for bot in self.bots.values()}
        while orphans := [pid for pid in linux.children(os.getpid()) if pid not in init_pids]:
            for pid in orphans:
                linux.kill(pid)
            for pid in orphans:
                os.waitpid(pid, 0)

    def run_commands(self) -> bool:
        data = os.read(0, CHUNK)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.run_command(json.loads(line))
        return bool(data)

    def run_command(self, command: dict[str, Any]) -> None:
        number = command["bot"]
        if command["do"] == "start":
            bot = StartedBot(StartCommand(command))
            os.mkdir(bot.start_command.directory, 0o700)
            bot.start(list(self.bots.values()))
            self.bots[number] = bot
        elif number in self.bots:
            bot = self.bots[number]
            if command["do"] == "stop":
                bot.stop()
            else:
                self.report_tail(number, bot)

    def report_tail(self, number: int, bot: StartedBot) -> None:
        if bot.output >= 0:
            bot.drain(4 * CHUNK)
        write_report(
            {
                "bot": number,
                "event": "tail",
                "output": bot.captured.text(),
                "ending": bot.is_ending(),
                "peak_memory": bot.peak_memory(),
            }
        )

    def end(self) -> None:
        for bot in self.bots.values():
            bot.close()
        for bot in self.bots.values():
            os.waitpid(bot.init_pid, 0)
            bot.clear()
        self.bots.clear()
        self.sweep()


def write_report(report: dict[str, Any]) -> None:
    data = json.dumps(report).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    """Run the launcher for the owner whose process id is the first argument."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(BrokenPipeError):
        Launcher(int(sys.argv[1])).run()

"""Sandbox launcher: execute the owner's commands, and report the output and end of bots."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys

from arena.bots.sandbox import linux, memory_disk
from arena.bots.sandbox.init_process import InitProcess
from arena.bots.sandbox.sandbox import UNSANDBOXED, copy_of
from arena.bots.sandbox.start_command import Order
from arena.system import file_tree

# Bounded buffer for a bot's output.


HEAD = 4 * 1024
TAIL = 64 * 1024


class Output:
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
        left_out = self.written - len(self.head) - len(self.tail)
        gap = f"\n[{left_out} bytes are left out here]\n".encode() if left_out else b""
        return (self.head + gap + self.tail).decode("utf-8", "replace")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHUNK = 65536
LOOK_UP = 1.0
"""Seconds between two checks whether the owner is alive, in case its pipe stays open."""


class Bot:
    """The launcher's state of a bot: the pipes to its init process, and its output."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.guard = 0
        self.commands = -1
        self.news = -1
        self.output = -1
        self.heard = b""
        self.kept = Output()
        self.flooded = False

    def start(self, others: list[Bot]) -> None:
        """Fork the init process, which starts the bot."""
        commands, self.commands = os.pipe()
        self.news, news = os.pipe()
        self.output, output = os.pipe()
        self.guard = os.fork()
        if self.guard == 0:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            # If an init process held the pipe of another bot, that pipe's end could not be
            # detected.
            for bot in (*others, self):
                bot.close()
            InitProcess(self.order, commands, news, output).run()
        for end in (commands, news, output):
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
            self.kept.add(data)
            most -= len(data)
        return True

    def words(self) -> dict[str, str]:
        """Return the values sent by the init process, by keyword."""
        return dict(line.split(" ", 1) for line in self.heard.decode().splitlines())

    def is_ending(self) -> bool:
        """Return whether the bot is about to end, so that its report will follow."""
        pid = self.words().get("pid")
        return self.flooded or (pid is not None and linux.is_ending(int(pid)))

    def peak_memory(self) -> int:
        """Return the peak memory in bytes of its largest process so far."""
        pid = self.words().get("pid")
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
        memory_disk.remove_places(self.order.directory)
        file_tree.remove(copy_of(self.order.directory))

    def close(self) -> None:
        for end in (self.commands, self.news, self.output):
            if end >= 0:
                os.close(end)
        self.commands = self.news = self.output = -1


class Launcher:
    """All bots of one owner."""

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.bots: dict[int, Bot] = {}
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
        news = {bot.news: number for number, bot in self.bots.items()}
        outputs = {bot.output: number for number, bot in self.bots.items() if bot.output >= 0}
        ready = select.select([0, *news, *outputs], [], [], LOOK_UP)[0]
        for end in ready:
            if end in outputs:
                self.take(self.bots[outputs[end]])
        for end in ready:
            if end in news:
                self.hear(news[end])
        return self.obey() if 0 in ready else True

    def take(self, bot: Bot) -> None:
        if not bot.drain(4 * CHUNK):
            os.close(bot.output)
            bot.output = -1
        if bot.kept.written > bot.order.limits["output"] and not bot.flooded:
            bot.flooded = True
            bot.kill()

    def hear(self, number: int) -> None:
        bot = self.bots[number]
        data = os.read(bot.news, CHUNK)
        bot.heard += data
        if data:
            return
        os.waitpid(bot.guard, 0)
        del self.bots[number]
        self.sweep()
        if bot.output >= 0:
            # All writers are gone, and a pipe holds at most 1 MiB.
            bot.drain(16 * CHUNK)
        bot.close()
        bot.clear()
        self.report(number, bot)

    def report(self, number: int, bot: Bot) -> None:
        words = bot.words()
        status = int(words["status"]) if "status" in words else None
        broken = words.get("broken")
        if broken is None and "peak" not in words and bot.order.level != UNSANDBOXED:
            # An init process always sends "peak", and a sandboxed bot cannot kill it.
            broken = "its guard was killed"
        say(
            {
                "bot": number,
                "event": "ended",
                "output": bot.kept.text(),
                "written": bot.kept.written,
                "flooded": bot.flooded,
                "status": status,
                "peak_memory": 1024 * int(words.get("peak", 0)),
                "excess": words.get("excess", ""),
                "failed": words.get("failed"),
                "broken": broken,
            }
        )

    def sweep(self) -> None:
        """Kill the remaining processes of a bot whose init process was killed."""
        guards = {bot.guard for bot in self.bots.values()}
        while strays := [pid for pid in linux.children(os.getpid()) if pid not in guards]:
            for pid in strays:
                linux.kill(pid)
            for pid in strays:
                os.waitpid(pid, 0)

    def obey(self) -> bool:
        data = os.read(0, CHUNK)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.do(json.loads(line))
        return bool(data)

    def do(self, said: dict[str, Any]) -> None:
        number = said["bot"]
        if said["do"] == "start":
            bot = Bot(Order(said))
            os.mkdir(bot.order.directory, 0o700)
            bot.start(list(self.bots.values()))
            self.bots[number] = bot
        elif number in self.bots:
            bot = self.bots[number]
            if said["do"] == "stop":
                bot.stop()
            else:
                self.show(number, bot)

    def show(self, number: int, bot: Bot) -> None:
        if bot.output >= 0:
            bot.drain(4 * CHUNK)
        say(
            {
                "bot": number,
                "event": "tail",
                "output": bot.kept.text(),
                "ending": bot.is_ending(),
                "peak_memory": bot.peak_memory(),
            }
        )

    def end(self) -> None:
        for bot in self.bots.values():
            bot.close()
        for bot in self.bots.values():
            os.waitpid(bot.guard, 0)
            bot.clear()
        self.bots.clear()
        self.sweep()


def say(report: dict[str, Any]) -> None:
    data = json.dumps(report).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    """Run the launcher for the owner whose process id is the first argument."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(BrokenPipeError):
        Launcher(int(sys.argv[1])).run()

"""The keeper itself: obeys its owner, and reports how bots end and what they write."""

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

# What a bot has written, as much of it as is kept.


HEAD = 4 * 1024
TAIL = 64 * 1024


class Output:
    """The first 4 KiB and the last 64 KiB of what a bot has written, and how much it was."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.written = 0

    def add(self, data: bytes) -> None:
        """Takes in what comes next."""
        self.written += len(data)
        room = HEAD - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-TAIL:]

    def text(self) -> str:
        """What is kept, with a line in the place of what is not."""
        left_out = self.written - len(self.head) - len(self.tail)
        gap = f"\n[{left_out} bytes are left out here]\n".encode() if left_out else b""
        return (self.head + gap + self.tail).decode("utf-8", "replace")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHUNK = 65536
LOOK_UP = 1.0
"""Seconds between two looks at whether the owner lives, in case its pipe outlives it."""


class Bot:
    """A bot as the keeper sees it: the pipes to its guard, and its output."""

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
        """Forks the guard, which starts the bot."""
        commands, self.commands = os.pipe()
        self.news, news = os.pipe()
        self.output, output = os.pipe()
        self.guard = os.fork()
        if self.guard == 0:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            # A guard that held the pipe of another would keep its end from being read.
            for bot in (*others, self):
                bot.close()
            InitProcess(self.order, commands, news, output).run()
        for end in (commands, news, output):
            os.close(end)
        os.set_blocking(self.output, False)

    def drain(self, most: int) -> bool:
        """Takes in what was written, `most` bytes at the most; False at the end of it."""
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
        """What the guard has told."""
        return dict(line.split(" ", 1) for line in self.heard.decode().splitlines())

    def is_ending(self) -> bool:
        """Whether the bot is about to end, so that news of it will come."""
        pid = self.words().get("pid")
        return self.flooded or (pid is not None and linux.is_ending(int(pid)))

    def peak_memory(self) -> int:
        """The most bytes of memory that one of its processes has held so far."""
        pid = self.words().get("pid")
        return 0 if pid is None else linux.peak_memory(int(pid))

    def stop(self) -> None:
        """Asks the bot to end, and has it killed if it does not."""
        with contextlib.suppress(OSError):
            os.write(self.commands, b"stop\n")

    def kill(self) -> None:
        """Has all processes of the bot killed."""
        if self.commands >= 0:
            os.close(self.commands)
            self.commands = -1

    def clear(self) -> None:
        """Removes what the guard has not: it may have been killed."""
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
        """Keeps bots until the owner is gone; nothing of them is left afterwards."""
        try:
            while os.getppid() == self.owner and self.turn():
                pass
        finally:
            self.end()

    def turn(self) -> bool:
        """Waits for something to happen and does what follows; False when the owner is gone."""
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
            # Nobody writes any more, and a pipe holds a mebibyte at the most.
            bot.drain(16 * CHUNK)
        bot.close()
        bot.clear()
        self.report(number, bot)

    def report(self, number: int, bot: Bot) -> None:
        words = bot.words()
        status = int(words["status"]) if "status" in words else None
        broken = words.get("broken")
        if broken is None and "peak" not in words and bot.order.level != UNSANDBOXED:
            # A guard reports "peak" whatever becomes of its bot, and no sandboxed bot can kill it.
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
        """Kills what is left of a bot whose guard was itself killed."""
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
    """Keeps the bots of the process whose id is the first argument."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(BrokenPipeError):
        Launcher(int(sys.argv[1])).run()

"""The parent of one bot's processes: starts the bot, waits, and kills whatever is left."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time

from arena.bots.sandbox import linux
from arena.bots.sandbox.sandbox import Cell
from arena.bots.sandbox.start_command import Order

GRACE = 0.25
"""Seconds between SIGTERM and SIGKILL."""
BETWEEN = 0.25
"""Seconds between two looks at what the bot has written to its scratch space."""
LONGEST_NEWS = 500
"""Characters of a line of news: a pipe takes so many in one piece."""
RLIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
}


class InitProcess:
    """What the forked process of a guard does.

    ``commands`` is read for "stop" and for its end, which means: kill now. ``news`` is written
    to, a line each: "pid NUMBER" of the bot, "failed WHY", "status NUMBER", "peak KILOBYTES" of
    memory, "excess WHAT" if it was killed for having too much of something, "broken WHY". The bot
    writes to ``output``.
    """

    def __init__(self, order: Order, commands: int, news: int, output: int) -> None:
        self.order = order
        self.cell = Cell(order)
        self.commands = commands
        self.news = news
        self.output = output
        self.bot = 0
        self.status: int | None = None
        self.ended_by_itself = False
        """Whether the bot's process had ended before this process killed anything."""
        self.peak = 0
        self.excess = ""

    def run(self) -> None:
        """Guards the bot until nothing is left of it; ends this process."""
        try:
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
            woken = self.wake_on_sigchld()
            try:
                self.cell.prepare()
                self.guard(woken)
            finally:
                self.kill_all()
                self.cell.take_away()
            self.tell()
        except OSError as error:
            # Where the keeper is gone, nobody listens any more.
            with contextlib.suppress(BrokenPipeError):
                self.say("broken", error)
        finally:
            os._exit(0)

    def guard(self, woken: int) -> None:
        """Starts the bot, and returns when it has ended or is not to live any longer."""
        self.bot = self.spawn()
        self.say("pid", self.bot)
        os.close(self.output)
        self.wait(woken)
        self.ended_by_itself = self.status is not None
        # What the bot wrote since the last look counts too.
        self.excess = self.excess or self.cell.excess(self.bot)

    def say(self, word: str, what: object) -> None:
        line = " ".join(f"{word} {what}".split())[:LONGEST_NEWS]
        os.write(self.news, line.encode("utf-8", "replace") + b"\n")

    def tell(self) -> None:
        """Says what has become of the bot."""
        self.say("peak", self.cell.peak // 1024 or self.peak)
        excess = self.excess or self.cell.left_too_much
        if not excess and self.cell.out_of_memory:
            excess = "memory"
        if excess:
            self.say("excess", excess)
        if not excess and self.ended_by_itself and self.cell.was_killed(self.status):
            self.say("broken", "its sandbox was killed from outside")
        if self.status is not None:
            self.say("status", self.cell.status(self.status))

    def wake_on_sigchld(self) -> int:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        return reading

    def wait(self, woken: int) -> None:
        """Returns when the bot has ended or is not to live any longer."""
        deadline = None
        while self.status is None:
            ready = select.select([self.commands, woken], [], [], self.patience(deadline))[0]
            if woken in ready:
                os.read(woken, 4096)
                self.reap()
            if self.commands in ready:
                if not os.read(self.commands, 4096):
                    return
                for group in self.cell.ask_to_end(self.bot):
                    linux.signal_group(group, signal.SIGTERM)
                deadline = time.monotonic() + GRACE
            if deadline is not None and time.monotonic() >= deadline:
                return
            if not ready:
                self.excess = self.cell.excess(self.bot)
                if self.excess:
                    return

    def patience(self, deadline: float | None) -> float | None:
        """Seconds until something is to be done even if nothing happens."""
        if deadline is not None:
            return max(0.0, deadline - time.monotonic())
        return BETWEEN if self.cell.locked else None

    def reap(self) -> bool:
        """Buries the dead; False when nobody is left."""
        try:
            while True:
                pid, status, used = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return True
                self.peak = max(self.peak, used.ru_maxrss)
                if pid == self.bot:
                    self.status = status
        except ChildProcessError:
            return False

    def kill_all(self) -> None:
        # Killing children is enough: their children become ours and are next.
        if self.bot:
            linux.signal_group(self.bot, signal.SIGKILL)
        while self.reap():
            for pid in linux.children(os.getpid()):
                linux.kill(pid)
            time.sleep(0.001)

    def spawn(self) -> int:
        guard = os.getpid()
        pid = os.fork()
        if pid != 0:
            return pid
        try:
            os.setsid()
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == guard:
                self.become_bot()
        except OSError as error:
            place = str(error.filename or "").replace(f"{self.order.cwd}/", "./", 1)
            self.say("failed", f"{place}: {error.strerror}" if place else error.strerror)
        finally:
            os._exit(127)

    def become_bot(self) -> None:
        # Without this a set-user-id program could become somebody whom we cannot kill.
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(self.output, 1)
        os.dup2(self.output, 2)
        os.chdir(self.order.cwd)
        linux.check_program(self.order.argv[0])
        # Not 0: a program that the system has take the cores is spared by 1 only (core(5)).
        linux.lower(resource.RLIMIT_CORE, 1)
        for name, kind in RLIMITS.items():
            linux.lower(kind, self.order.limits[name])
        linux.volunteer()
        argv = self.locked_in()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Bubblewrap sets the environment of the bot; its own shows in the sandbox.
        is_wrapped = argv is not self.order.argv
        os.execve(argv[0], argv, {} if is_wrapped else self.order.env)

    def locked_in(self) -> list[str]:
        """Locks this process in, and gives back what is to be executed then."""
        try:
            return self.cell.lock_in()
        except OSError as error:
            # No fault of the bot's.
            self.say("broken", error)
            os._exit(127)

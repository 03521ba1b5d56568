"""The parent of one bot's processes: starts the bot, waits, and kills whatever is left."""

from __future__ import annotations

import os
import resource
import select
import signal
import time

from arena.bots.keeper import linux
from arena.bots.keeper.order import Order

GRACE = 0.25
"""Seconds between SIGTERM and SIGKILL."""
LONGEST_NEWS = 500
"""Characters of a line of news: a pipe takes so many in one piece."""
RLIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
}


class Guard:
    """What the forked process of a guard does.

    ``commands`` is read for "stop" and for its end, which means: kill now. ``news`` is written
    to, a line each: "pid NUMBER" of the bot, "failed WHY", "status NUMBER", "peak KILOBYTES" of
    the largest of its processes, "broken WHY". The bot writes to ``output``.
    """

    def __init__(self, order: Order, commands: int, news: int, output: int) -> None:
        self.order = order
        self.commands = commands
        self.news = news
        self.output = output
        self.bot = 0
        self.status: int | None = None
        self.peak = 0

    def run(self) -> None:
        """Guards the bot until nothing is left of it; ends this process."""
        try:
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
            woken = self.wake_on_sigchld()
            self.bot = self.spawn()
            self.say("pid", self.bot)
            os.close(self.output)
            self.wait(woken)
            self.kill_all()
            linux.remove(self.order.directory)
            if self.status is not None:
                self.say("status", self.status)
            self.say("peak", self.peak)
        except OSError as error:
            self.say("broken", error)
        finally:
            os._exit(0)

    def say(self, word: str, what: object) -> None:
        line = " ".join(f"{word} {what}".split())[:LONGEST_NEWS]
        os.write(self.news, line.encode("utf-8", "replace") + b"\n")

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
            timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = select.select([self.commands, woken], [], [], timeout)[0]
            if woken in ready:
                os.read(woken, 4096)
                self.reap()
            if self.commands in ready:
                if not os.read(self.commands, 4096):
                    return
                linux.signal_group(self.bot, signal.SIGTERM)
                deadline = time.monotonic() + GRACE
            if deadline is not None and time.monotonic() >= deadline:
                return

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
        linux.lower(resource.RLIMIT_CORE, 0)
        for name, kind in RLIMITS.items():
            linux.lower(kind, self.order.limits[name])
        linux.volunteer()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(self.order.argv[0], self.order.argv, self.order.env)

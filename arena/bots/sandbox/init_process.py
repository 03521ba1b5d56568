"""Init process of one bot: start the bot, wait for it, and kill all remaining processes."""

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
"""Seconds between two checks of the bot's scratch space and memory."""
LONGEST_NEWS = 500
"""Maximum length of a status line in characters: a pipe writes short lines atomically."""
RLIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
}


class InitProcess:
    """Code of the forked init process.

    Reads ``commands``: "stop" ends the bot, and the end of the pipe kills it at once. Writes lines
    to ``news``:

    - "pid NUMBER": the bot's process id
    - "failed WHY": the program could not be started
    - "status NUMBER": the wait status of the bot
    - "peak KILOBYTES": peak memory
    - "excess WHAT": the exceeded limit, if the bot was killed for that
    - "broken WHY": an error of the sandbox itself

    The bot's output goes to ``output``.
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
        """Whether the bot's process ended before this process killed anything."""
        self.peak = 0
        self.excess = ""

    def run(self) -> None:
        """Run the bot until all its processes are gone, then end this process."""
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
            # If the launcher is gone, nothing reads the pipe.
            with contextlib.suppress(BrokenPipeError):
                self.say("broken", error)
        finally:
            os._exit(0)

    def guard(self, woken: int) -> None:
        """Start the bot; return when it has ended or must be killed."""
        self.bot = self.spawn()
        self.say("pid", self.bot)
        os.close(self.output)
        self.wait(woken)
        self.ended_by_itself = self.status is not None
        # The data written since the last check counts too.
        self.excess = self.excess or self.cell.excess(self.bot)

    def say(self, word: str, what: object) -> None:
        line = " ".join(f"{word} {what}".split())[:LONGEST_NEWS]
        os.write(self.news, line.encode("utf-8", "replace") + b"\n")

    def tell(self) -> None:
        """Send the results to the launcher."""
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
        """Return when the bot has ended or must be killed."""
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
        """Return the seconds until the next timed action; None if none is due."""
        if deadline is not None:
            return max(0.0, deadline - time.monotonic())
        return BETWEEN if self.cell.locked else None

    def reap(self) -> bool:
        """Collect exited children; return False if none are left."""
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
        # Killing the children is enough: this process adopts their children, which come next.
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
        # Otherwise a set-user-id program could change to a user whose processes cannot be killed.
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(self.output, 1)
        os.dup2(self.output, 2)
        os.chdir(self.order.cwd)
        linux.check_program(self.order.argv[0])
        # A core_pattern program receives core dumps unless the limit is exactly 1; 0 does not
        # prevent it (core(5)).
        linux.lower(resource.RLIMIT_CORE, 1)
        for name, kind in RLIMITS.items():
            linux.lower(kind, self.order.limits[name])
        linux.volunteer()
        argv = self.locked_in()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Bubblewrap sets the bot's environment; its own environment would be visible in the
        # sandbox.
        is_wrapped = argv is not self.order.argv
        os.execve(argv[0], argv, {} if is_wrapped else self.order.env)

    def locked_in(self) -> list[str]:
        """Sandbox this process and return the command to execute."""
        try:
            return self.cell.lock_in()
        except OSError as error:
            # This is not the bot's fault.
            self.say("broken", error)
            os._exit(127)

"""Init process of one bot: start the bot, wait for it, and kill all remaining processes."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time

from arena.bots.sandbox import linux
from arena.bots.sandbox.sandbox import Sandbox
from arena.bots.sandbox.start_command import StartCommand

CHECK_INTERVAL = 0.25
"""Seconds between two checks of the bot's scratch space and memory."""
LONGEST_REPORT = 500
"""Maximum length of a status line in characters: a pipe writes short lines atomically."""
RLIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
}


class InitProcess:
    """Code of the forked init process.

    Reads ``commands``: "stop" ends the bot, and the end of the pipe kills it at once. Writes lines
    to ``reports``:

    - "pid NUMBER": the bot's process id
    - "failed WHY": the program could not be started
    - "status NUMBER": the wait status of the bot
    - "peak KILOBYTES": peak memory
    - "excess WHAT": the exceeded limit, if the bot was killed for that
    - "broken WHY": an error of the sandbox itself

    The bot's output goes to ``output``.
    """

    def __init__(
        self, start_command: StartCommand, commands: int, reports: int, output: int
    ) -> None:
        self.start_command = start_command
        self.sandbox = Sandbox(start_command)
        self.commands = commands
        self.reports = reports
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
            wakeups = self.wake_on_sigchld()
            try:
                self.sandbox.prepare()
                self.watch(wakeups)
            finally:
                self.kill_all()
                self.sandbox.remove()
            self.send_results()
        except OSError as error:
            # If the launcher is gone, nothing reads the pipe.
            with contextlib.suppress(BrokenPipeError):
                self.send("broken", error)
        finally:
            os._exit(0)

    def watch(self, wakeups: int) -> None:
        """Start the bot; return when it has ended or must be killed."""
        self.bot = self.spawn()
        self.send("pid", self.bot)
        os.close(self.output)
        self.wait(wakeups)
        self.ended_by_itself = self.status is not None
        # The data written since the last check counts too.
        self.excess = self.excess or self.sandbox.excess(self.bot)

    def send(self, keyword: str, value: object) -> None:
        line = " ".join(f"{keyword} {value}".split())[:LONGEST_REPORT]
        os.write(self.reports, line.encode("utf-8", "replace") + b"\n")

    def send_results(self) -> None:
        """Send the results to the launcher."""
        self.send("peak", self.sandbox.peak // 1024 or self.peak)
        excess = self.excess or self.sandbox.build_excess
        if not excess and self.sandbox.out_of_memory:
            excess = "memory"
        if excess:
            self.send("excess", excess)
        if not excess and self.ended_by_itself and self.sandbox.was_killed(self.status):
            self.send("broken", "its sandbox was killed from outside")
        if self.status is not None:
            self.send("status", self.sandbox.bot_status(self.status))

    def wake_on_sigchld(self) -> int:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        return reading

    def wait(self, wakeups: int) -> None:
        """Return when the bot has ended or must be killed."""
        deadline = None
        while self.status is None:
            ready = select.select([self.commands, wakeups], [], [], self.time_limit(deadline))[0]
            if wakeups in ready:
                os.read(wakeups, 4096)
                self.reap()
            if self.commands in ready:
                if not os.read(self.commands, 4096):
                    return
                for group in self.sandbox.groups_to_stop(self.bot):
                    linux.signal_group(group, signal.SIGTERM)
                deadline = time.monotonic() + self.sandbox.start.limits["stop_ms"] / 1000
            if deadline is not None and time.monotonic() >= deadline:
                return
            if not ready:
                self.excess = self.sandbox.excess(self.bot)
                if self.excess:
                    return

    def time_limit(self, deadline: float | None) -> float | None:
        """Return the seconds until the next timed action; None if none is due."""
        if deadline is not None:
            return max(0.0, deadline - time.monotonic())
        return CHECK_INTERVAL if self.sandbox.is_isolated else None

    def reap(self) -> bool:
        """Collect exited children; return False if none are left."""
        try:
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return True
                self.peak = max(self.peak, usage.ru_maxrss)
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
        init_pid = os.getpid()
        pid = os.fork()
        if pid != 0:
            return pid
        try:
            os.setsid()
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == init_pid:
                self.become_bot()
        except OSError as error:
            file = str(error.filename or "").replace(f"{self.start_command.cwd}/", "./", 1)
            self.send("failed", f"{file}: {error.strerror}" if file else error.strerror)
        finally:
            os._exit(127)

    def become_bot(self) -> None:
        # Otherwise a set-user-id program could change to a user whose processes cannot be killed.
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(self.output, 1)
        os.dup2(self.output, 2)
        os.chdir(self.start_command.cwd)
        linux.check_program(self.start_command.argv[0])
        # A core_pattern program receives core dumps unless the limit is exactly 1; 0 does not
        # prevent it (core(5)).
        linux.lower_limit(resource.RLIMIT_CORE, 1)
        for name, kind in RLIMITS.items():
            linux.lower_limit(kind, self.start_command.limits[name])
        linux.prefer_for_oom_kill()
        argv = self.enter_sandbox()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Bubblewrap sets the bot's environment; its own environment would be visible in the
        # sandbox.
        is_wrapped = argv is not self.start_command.argv
        os.execve(argv[0], argv, {} if is_wrapped else self.start_command.env)

    def enter_sandbox(self) -> list[str]:
        """Sandbox this process and return the command to execute."""
        try:
            return self.sandbox.enter()
        except OSError as error:
            # This is not the bot's fault.
            self.send("broken", error)
            os._exit(127)

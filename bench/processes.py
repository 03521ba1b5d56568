"""Start the measured processes: referees, bots and echo servers."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).parent


@contextmanager
def started(*commands: Sequence[str]) -> Iterator[list[str]]:
    """Run Python programs of this folder, modules (``-m``), or other programs by their path.

    A bot or echo server receives its address in the environment, a referee by ``--address``. The
    log is printed only after a failure.

    Yields:
        The unix addresses of the processes.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        addresses = []
        path = Path(folder, "log")
        log = stack.enter_context(path.open("ab"))
        for number, command in enumerate(commands):
            address = f"unix:{folder}/{number}"
            if command[0] == "-m":
                argv = [sys.executable, *command, "--address", address]
            elif command[0].endswith(".py"):
                # With -P, because modules of this folder have names of the standard library.
                argv = [sys.executable, "-P", str(HERE / command[0]), *command[1:]]
            else:
                argv = list(command)
            process = subprocess.Popen(
                argv, env={"POKEARENA_ADDRESS": address}, stdout=subprocess.DEVNULL, stderr=log
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            addresses.append(address)
        try:
            yield addresses
        except (Exception, SystemExit):
            sys.stderr.write(path.read_text(encoding="utf-8", errors="replace"))
            raise

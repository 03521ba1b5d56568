"""Measure the page cache as a channel between two processes of a bot, in bits per second.

    uv run python -m bench.side_channel

A sandboxed writer reads one page of its own files for each bit that is 1 and skips the page for
each 0. A sandboxed reader then measures the duration of the first read of each page: a page in
memory is faster than one on the disk. Two arrangements are measured:

- after: the reader starts after the writer has been removed completely, as at the next table of a
  match;
- during: the reader runs while the writer still lives.

The capacity is the mutual information of bits written and bits read, divided by the time that both
processes take for the bits. The channel is a binary symmetric one with the measured share of
errors.
"""

import math
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels

BITS = 512
STRIDE = 256 << 10
"""Bytes between two pages, more than the kernel's read-ahead."""
ROUNDS = 5
SEED = 1

WRITER = """
import os, sys, time
file = os.open("pages", os.O_RDONLY)
began = time.perf_counter()
for number, bit in enumerate({bits!r}):
    if bit == "1":
        os.pread(file, 1, number * {stride})
print(time.perf_counter() - began, flush=True)
if {stays}:
    time.sleep(60)
"""
READER = """
import os, time
file = os.open("pages", os.O_RDONLY)
times = []
for number in range({count}):
    began = time.perf_counter_ns()
    os.pread(file, 1, number * {stride})
    times.append(time.perf_counter_ns() - began)
print(*times, flush=True)
"""


def information(errors: float) -> float:
    """Return the bits of information in one bit of a binary symmetric channel."""
    if errors in (0.0, 1.0):
        return 1.0
    return 1 + errors * math.log2(errors) + (1 - errors) * math.log2(1 - errors)


def _run(processes: Processes, seat: int, folder: Path, script: str, wait: bool) -> Report:
    (folder / f"bot-{seat}.py").write_text(script)
    bot = Bot("bot", Manifest("bot", ("python", "-S", f"bot-{seat}.py")), folder)
    processes.start(seat, bot)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        report = processes.report(seat, patience=0)
        if report.ended or (not wait and report.output.endswith("\n")):
            return report
    raise TimeoutError("a process of the channel did not end")


def measure(folder: Path, stays: bool, chance: random.Random) -> tuple[float, float]:
    """Send bits once; return the share of errors and the capacity in bits per second."""
    pages = folder / "pages"
    if not pages.exists():
        with pages.open("wb") as file:
            for _ in range(BITS):
                file.write(os.urandom(STRIDE))
    descriptor = os.open(pages, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    bits = "".join(chance.choice("01") for _ in range(BITS))
    write = WRITER.format(bits=bits, stride=STRIDE, stays=stays)
    read = READER.format(count=BITS, stride=STRIDE)
    with Processes(level=available_levels.best_level()) as processes:
        wrote = float(_run(processes, 0, folder, write, wait=not stays).output)
        times = list(map(int, _run(processes, 1, folder, read, wait=True).output.split()))
    # About half of the bits are 1, and their pages are already in memory.
    threshold = statistics.median(times)
    wrong = (
        sum((elapsed < threshold) != (bit == "1") for elapsed, bit in zip(times, bits, strict=True))
        / BITS
    )
    return wrong, information(wrong) * BITS / (wrote + sum(times) / 1e9)


def main() -> None:
    """Print the share of errors and the capacity of both arrangements."""
    chance = random.Random(SEED)
    # A folder on a disk that every user may enter.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for arrangement, stays in (("after", False), ("during", True)):
            rounds = [measure(folder, stays, chance) for _ in range(ROUNDS)]
            errors, capacity = (statistics.median(values) for values in zip(*rounds, strict=True))
            print(f"{arrangement}: {100 * errors:.1f} % errors, {capacity:.0f} bits per second")


if __name__ == "__main__":
    main()

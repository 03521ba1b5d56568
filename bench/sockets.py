"""Baseline for a decision: one line of text over TCP in each direction.

    python -m bench.sockets ADDRESS      one bot that connects there

The engine of MIT's Pokerbots, and of many later contests, writes a bot's information as a line to
its TCP connection and reads one line. It has no schema, list of legal actions, or record of times;
this is the lower bound for the cost of a networked decision in Python. The line here has the same
length as in that engine, and is split and joined in the same way as by its bots.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO

from bench.processes import HERE

QUESTION = "T7.31250 P0 HAh,Kd,7c,7s,2d B9h,Ts,3c S120,80 R3 C0,1,0,2,1,0 D"
ANSWER = "K7c,7s"


@contextmanager
def engine() -> Iterator[Sequence[IO[str]]]:
    """Start and connect two bots as processes; yield each as a file of lines."""
    with ExitStack() as stack:
        door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        bots = []
        for _ in range(2):
            argv = [sys.executable, "-m", "bench.sockets", str(door.getsockname()[1])]
            process = subprocess.Popen(argv, cwd=HERE.parent)
            stack.callback(process.wait)
            stack.callback(process.kill)
            line, _ = door.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            bots.append(stack.enter_context(line.makefile("rw", newline="\n")))
        yield bots


def microseconds(bots: Sequence[IO[str]], number: int) -> float:
    """Return the mean microseconds of `number` decisions that alternate between the bots."""
    began = time.perf_counter()
    for n in range(number):
        bot = bots[n & 1]
        bot.write(QUESTION + "\n")
        bot.flush()
        answer = bot.readline().strip()
        if answer != ANSWER:
            raise SystemExit(f"unexpected answer {answer!r}")
    return 1e6 * (time.perf_counter() - began) / number


def main() -> None:
    """Run a bot: parse each line into words and reply with an action."""
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        file = line.makefile("rw", newline="\n")
        while request := file.readline():
            words = {word[0]: word[1:] for word in request.strip().split(" ")}
            hand = words["H"].split(",")
            file.write("K" + ",".join(card for card in hand if card[0] == "7") + "\n")
            file.flush()


if __name__ == "__main__":
    main()

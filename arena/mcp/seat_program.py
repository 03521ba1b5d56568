"""The bot of an agent: it copies the lines of a table to the agent's server, and the answers back.

The connector starts it for each table (`python -m arena.bots.stdio -- ...`), like any other bot.
"""

import socket
import sys


def main(path: str) -> None:
    """Connect to the socket of the agent's server and copy lines until the table or it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rwb") as server:
            for line in sys.stdin.buffer:
                server.write(line)
                server.flush()
                answer = server.readline()
                if not answer:
                    return
                sys.stdout.buffer.write(answer)
                sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])

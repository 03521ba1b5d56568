"""Print a hash of the bytes sent in some games, which is equal in all processes and machines.

Run as a program, it prints the fingerprint of the plainest table of each game, one per line.
"""

import hashlib

from tests.conformance.tables import TABLES, Table, is_plainest
from tests.conformance.walks import walk
from tests.conformance.wire import question

WALKS = 1


SOME = tuple(filter(is_plainest, TABLES))


def fingerprint(table: Table) -> str:
    """Return the SHA-256 of every question and action of the first walks at a table."""
    seen = hashlib.sha256()
    for number in range(WALKS):
        for step in walk(table, number):
            for seat in range(table.seats):
                seen.update(question(table.codec, step.state, seat))
            for seat, action in step.moves.items():
                seen.update(f"{seat} {table.codec.action_text(action)}".encode())
                seen.update(table.codec.action(action))
            seen.update(str(step.state.scores).encode())
    return seen.hexdigest()


if __name__ == "__main__":
    for entry in SOME:
        print(entry, fingerprint(entry))

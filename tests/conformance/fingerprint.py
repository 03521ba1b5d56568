"""One number for all that is sent in some games: the same in every process and on every machine.

Run as a program it prints the fingerprint of every table of the quick suite, a line each.
"""

import hashlib

from tests.conformance.tables import TABLES, Table, is_quick
from tests.conformance.walks import walk
from tests.conformance.wire import question

WALKS = 1


SOME = tuple(filter(is_quick, TABLES))


def fingerprint(table: Table) -> str:
    """SHA-256 of every question and every action of the first walks at a table."""
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

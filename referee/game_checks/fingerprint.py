"""Print a hash of the bytes sent in some games, which is equal in all processes and machines.

Run as a program with ids of games, it prints the fingerprint of the first table of each, one per
line.
"""

import hashlib
import sys

from referee.game_checks.random_games import question, walk
from referee.game_checks.tables import Table, tables_of
from referee.games.registry import find_game

WALKS = 1


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


def first_table(game_id: str) -> Table:
    """Return the first tested table of a game."""
    return next(tables_of(find_game(game_id)))


if __name__ == "__main__":
    for entry in map(first_table, sys.argv[1:]):
        print(entry, fingerprint(entry))

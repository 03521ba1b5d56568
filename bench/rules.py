"""Random play by the rules alone: actions a second on one core.

    uv run python -m bench.rules

An action is: listing what is legal, choosing one at random, and what follows.
"""

import random
import statistics
import time

from referee.dealing import Seeded, board_seed
from referee.games.registry import GAMES

TARGET = 20_000


def rate(game_id: str, seats: int, seconds: float = 1.0) -> float:
    """Actions a second of processor time."""
    game, chance = GAMES[game_id], random.Random(1)
    actions, board, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        state = game.start(Seeded(board_seed(bytes(32), board)), seats)
        board += 1
        while state.actors:
            moves = {seat: chance.choice(list(state.legal(seat))) for seat in state.actors}
            actions += len(moves)
            state = state.play(moves)
    return actions / (time.process_time() - began)


def main() -> None:
    """Prints a line for every game and number of seats."""
    for game_id, game in sorted(GAMES.items()):
        for seats in game.seats:
            rates = [rate(game_id, seats) for _ in range(5)]
            middle = statistics.median(rates)
            verdict = "ok" if middle >= TARGET else "MISSED"
            print(
                f"{game_id:12} {seats} seats: {middle:8.0f} random actions a second and core "
                f"({min(rates):.0f} to {max(rates):.0f}); target {TARGET}: {verdict}"
            )


if __name__ == "__main__":
    main()

"""How strong the house bots are against each other, over mirrored boards.

    uv run python -m bench.strength [BOARDS]

Every pair plays every board with both seatings; the figure is the mean score (win 1, draw one
half) with its 95 % interval, a board with both its games being one observation. Without processes
and clocks: the bots' own functions are asked the very questions the referee would ask.
"""

import importlib.util
import random
import statistics
import sys
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from pokearena.v1 import bot_pb2

from referee.codec import Codec
from referee.dealing import Seeded, board_seed
from referee.games.contract import Game
from referee.games.registry import GAMES

HOUSE = Path(__file__).parent.parent / "sample_bots" / "house"
BOTS = ("greedy", "bold", "meek", "random")
SEED = bytes(32)

Choose = Callable[[bot_pb2.ActRequest], Any]


def load(name: str) -> Choose:
    """The function of a house bot, its sibling modules loaded for it alone."""
    folder = HOUSE / name
    heard: list[Choose] = []
    siblings = [path.stem for path in folder.glob("*.py")]
    sys.path.insert(0, str(folder))
    import pokearena_bot

    usual, pokearena_bot.run = pokearena_bot.run, lambda bot, *_: heard.append(bot)
    try:
        spec = importlib.util.spec_from_file_location("__main__", folder / "bot.py")
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        pokearena_bot.run = usual
        sys.path.remove(str(folder))
        for sibling in siblings:
            sys.modules.pop(sibling, None)
    return heard[0]


def play(game: Game, codec: Codec, board: int, seating: Mapping[int, Choose]) -> tuple[int, ...]:
    """The scores of one game, by seat."""
    state = game.start(Seeded(board_seed(SEED, board)), len(seating))
    decision = 0
    while state.actors:
        moves = {}
        for seat in state.actors:
            head = bot_pb2.ActRequest(
                decision=decision, seat=seat, complete=True, luck=board << 20 | decision << 3 | seat
            )
            data = codec.question(head, state.view(seat), state.legal(seat))
            question = bot_pb2.ActRequest.FromString(data)
            random.seed(question.luck)
            move = seating[seat](question)
            moves[seat] = codec.decode(move[0] if isinstance(move, tuple) else move)
            decision += 1
        state = state.play(moves)
    return state.scores


def score(mine: int, theirs: int) -> float:
    """1 for more, one half for as much, 0 for less."""
    return (mine > theirs) + 0.5 * (mine == theirs)


def duel(game: Game, one: str, other: str, boards: int) -> tuple[float, float]:
    """Mean score of one bot against the other, and half its 95 % interval."""
    codec, bots = Codec(game), (load(one), load(other))
    means = []
    for board in range(boards):
        first = play(game, codec, board, {0: bots[0], 1: bots[1]})
        second = play(game, codec, board, {0: bots[1], 1: bots[0]})
        means.append((score(first[0], first[1]) + score(second[1], second[0])) / 2)
    return statistics.mean(means), 1.96 * statistics.stdev(means) / boards**0.5


def main() -> None:
    """Prints a table a game."""
    boards = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    for game in GAMES.values():
        print(f"\n{game.id}, 2 seats, {2 * boards} games a pair\n")
        print("| bot | against | mean score |\n|---|---|---|")
        for one, other in combinations(BOTS, 2):
            mean, half = duel(game, one, other, boards)
            print(f"| {one} | {other} | {mean:.3f} ± {half:.3f} |")


if __name__ == "__main__":
    main()

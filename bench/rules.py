"""Random play by the rules alone: actions a second on one core.

    uv run python -m bench.rules [GAME...]

An action is: one of the listed legal actions at random (`Legal.any`), and what follows. Beside
it stands the same with all of them listed first, which is what the referee does for a bot that
wants them; it differs where hundreds are legal. Every number of seats is measured with the usual
options, and every switch of a game alone and all together.
"""

import random
import statistics
import sys
import time
from collections.abc import Iterator, Mapping

from referee.dealing import Seeded, board_seed
from referee.games.contract import Game
from referee.games.registry import GAMES

TARGETS = {
    "poke": 55_000,
    "saint_poker": 55_000,
    "pokex": 55_000,
    "pouku": 10_000,
    "pokino": 10_000,
}
TARGET = 10_000
"""Of a game that is not named above."""
ROUNDS = 5

Form = tuple[int, dict[str, bool]]
"""A number of seats, and the switches that are on."""


def rate(
    game_id: str,
    seats: int | None = None,
    options: Mapping[str, object] | None = None,
    seconds: float = 1.0,
    listing: bool = False,
) -> float:
    """Actions a second of processor time; ``listing``: all that is legal is listed first."""
    game, chance = GAMES[game_id], random.Random(1)
    actions, board, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        state = game.start(Seeded(board_seed(bytes(32), board)), seats, options)
        board += 1
        while state.actors:
            if listing:
                moves = {seat: chance.choice(list(state.legal(seat))) for seat in state.actors}
            else:
                moves = {seat: state.legal(seat).any(chance) for seat in state.actors}
            actions += len(moves)
            state = state.play(moves)
    return actions / (time.process_time() - began)


def forms(game: Game) -> Iterator[Form]:
    """The forms of a game; the first is what the others are compared with."""
    switches = [name for name, o in game.options.items() if isinstance(o.default, bool)]
    flipped = {name: not game.options[name].default for name in switches}
    wanted: list[Form] = [(seats, {}) for seats in game.seats]
    some = [{name: flipped[name]} for name in switches]
    some += [flipped] if len(switches) > 1 else []
    wanted += [(_fewest(game, options), options) for options in some]
    yield from wanted


def _fewest(game: Game, options: dict[str, bool]) -> int:
    """The first number of seats that goes with these options."""
    settled = game.settle(options)
    return next(seats for seats in game.seats if game.allows(seats, settled))


def main() -> None:
    """Prints a line for every form of the games named, or of all."""
    for game_id in sys.argv[1:] or GAMES:
        base = 0.0
        target = TARGETS.get(game_id, TARGET)
        for seats, options in forms(GAMES[game_id]):
            rates = [rate(game_id, seats, options) for _ in range(ROUNDS)]
            middle = statistics.median(rates)
            listed = rate(game_id, seats, options, listing=True)
            base = base or middle
            told = " ".join(f"{name}={str(value).lower()}" for name, value in options.items())
            print(
                f"{game_id:12} {seats} seats {told:36} {middle:8.0f} random actions a second "
                f"({min(rates):.0f} to {max(rates):.0f}), {middle / base:.2f} x the first; "
                f"{listed:.0f} with all listed; "
                f"target {target}: {'ok' if middle >= target else 'MISSED'}"
            )


if __name__ == "__main__":
    main()

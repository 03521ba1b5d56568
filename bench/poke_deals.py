"""Measure bots in single deals of Poke: fewer decisions than whole rubbers for the same interval.

    uv run python -m bench.poke_deals champion strong --boards 100
    uv run python -m bench.poke_deals champion:4 champion --boards 100

Each board is a deal in a position of a rubber at random. It is played twice, with the bots' seats
exchanged; `champion:4` has four times the nodes. The figure is the mean gain of the first bot in
the probability to win the rubber, with its 95 % interval. The probability comes from the table of
`champion` (`poke.npz`), which self-play of simple draws made. It is an approximation: a bot that
plays for this table has an advantage.
"""

import argparse
import random
import sys
from dataclasses import dataclass

import numpy as np

from bench.arguments import at_least, house_bot
from bench.strength import HOUSE, SEED, MeasuredForm, Timed, loaded, mean_and_half, played_on
from referee.game_codec import GameCodec
from referee.games.poke.state import LEG_POINTS, PokeState
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed

FORM = MeasuredForm(GAMES["poke"], 2)
STEP = 50
"""All points above the line are multiples of this."""
LEGS = ((0, 0), (0, 0), (1, 0), (0, 1), (1, 1))


@dataclass(frozen=True)
class DealComparison:
    """The result of one bot against another in single deals."""

    gain: float
    """Mean gain of the first bot per deal, as a probability to win."""
    half: float
    """Half the 95 % interval."""
    ms: tuple[float, float]
    """Mean processor milliseconds per decision of both bots."""


class RubberTable:
    """The probability to win by the table of `champion`."""

    def __init__(self) -> None:
        with np.load(HOUSE / "champion" / "poke.npz") as stored:
            self.values = stored["rubber"].astype(np.float64)

    def chance(self, state: PokeState, seat: int) -> float:
        """Return the probability that a seat wins, before a deal or at the end."""
        if state.phase == "over":
            ahead = state.above[seat] - state.above[1 - seat]
            return 0.5 + 0.5 * ((ahead > 0) - (ahead < 0))
        dealer, other = state.dealer, 1 - state.dealer
        middle = self.values.shape[-1] // 2
        lead = (state.above[dealer] - state.above[other]) // STEP
        below = [min(points, LEG_POINTS - 1) for points in state.below]
        place = middle + max(-middle, min(middle, lead))
        legs = state.legs
        won = self.values[legs[dealer], legs[other], below[dealer], below[other], place]
        return float(won if seat == dealer else 1 - won)


def opening(board: int) -> PokeState:
    """Return the beginning of a deal in a rubber that has begun."""
    chance = random.Random(board)
    begun = FORM.game.start(Seeded(board_seed(SEED, board)), FORM.seats, FORM.given)
    assert isinstance(begun, PokeState)
    return begun.but(
        legs=chance.choice(LEGS),
        below=(chance.randrange(LEG_POINTS), chance.randrange(LEG_POINTS)),
        above=(STEP * chance.randrange(12), STEP * chance.randrange(12)),
    )


def measure(first_bot: str, second_bot: str, boards: int) -> DealComparison:
    """Play single deals between two bots."""
    codec, table = GameCodec(FORM.game), RubberTable()
    first = [Timed(loaded(first_bot, FORM.start(seat))) for seat in (0, 1)]
    second = [Timed(loaded(second_bot, FORM.start(seat))) for seat in (0, 1)]
    gains = []
    for board in range(boards):
        begun = opening(board)
        gain = 0.0
        for seat in (0, 1):
            seating = [first[s] if s == seat else second[s] for s in (0, 1)]
            ended = played_on(begun, codec, board, seating, lambda state: bool(state.deals))
            assert isinstance(ended, PokeState)
            gain += (table.chance(ended, seat) - table.chance(begun, seat)) / 2
        gains.append(gain)
    took = [
        1000 * sum(bot.seconds for bot in bots) / sum(bot.decisions for bot in bots)
        for bots in (first, second)
    ]
    return DealComparison(*mean_and_half(gains), (took[0], took[1]))


def main() -> None:
    """Print the gain per deal."""
    parser = argparse.ArgumentParser(description="Two bots in single deals of Poke.")
    parser.add_argument("first", type=house_bot)
    parser.add_argument("second", type=house_bot)
    parser.add_argument("--boards", type=at_least(1), default=100)
    given = parser.parse_args()
    result = measure(given.first, given.second, given.boards)
    print(f"{' '.join(sys.argv[1:])}: {result.gain:+.4f} ± {result.half:.4f} per deal; ", end="")
    print(f"{result.ms[0]:.1f} and {result.ms[1]:.1f} ms per decision")


if __name__ == "__main__":
    main()

"""Measure the calibration of the win probability on positions of games between house bots.

    uv run python -m bench.calibration --positions 10000             # every game: hours
    uv run python -m bench.calibration --positions 1000 --game poke

`greedy` and `bold` play, seated at random. Five positions of each game are rated twice, as pages
do: from what spectators see, and with the hands as they were. Every side of a position is one
prediction; its result is 1 for the first place, and an equal share for a shared one.

For each interval of predictions the command prints their number, their mean, and the mean result.
The line above has the mean squared error (Brier score) and, in parentheses, that of the prediction
1 / number of sides; and the mean distance between the two means (calibration error).
"""

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice, pairwise
from statistics import fmean

from arena.bots.in_process import load
from arena.records.analysis.engine import engine_of
from arena.records.analysis.win_probability import (
    WinProbabilityRater,
    first_place_shares,
    spectators_worlds,
)
from bench.arguments import at_least
from bench.strength import MeasuredForm, played_on
from referee.game_codec import GameCodec
from referee.games.contract import State
from referee.games.registry import GAMES
from referee.games.shared.dealing import SEED_BYTES, Seeded, board_seed, derive

BOTS = ("greedy", "bold")
POSITIONS_PER_GAME = 5
BOUNDS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
SEED = bytes(SEED_BYTES - 1) + b"\1"


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted probability of the first place, and the share of it at the end."""

    predicted: float
    result: float
    sides: int


def predictions(game: str, positions: int) -> tuple[list[Prediction], list[Prediction]]:
    """Return predictions from the public view, and those with the hands as they were."""
    public: list[Prediction] = []
    hands: list[Prediction] = []
    for number, (form, state, result) in enumerate(islice(_positions(game), positions)):
        rules, seed = form.game, derive(SEED, game, number)
        seen = spectators_worlds(rules, state.public(), rules.settle(form.given), seed)
        open_hands = (state.deal_unseen(Seeded(derive(seed, "hands", n))) for n in count())
        for worlds, predicted in ((seen, public), (open_hands, hands)):
            rater = WinProbabilityRater(
                game, engine_of(game), form.sides, open_hands=predicted is hands
            )
            estimates = rater.rate(islice(worlds, rater.usual_playouts))
            sides = len(set(form.sides))
            predicted += [
                Prediction(estimates[form.sides.index(side)].mean, result[side], sides)
                for side in range(sides)
            ]
    return public, hands


def _positions(game: str) -> Iterator[tuple[MeasuredForm, State, dict[int, float]]]:
    """Yield positions before the end, and the share of the first place by side; without end.

    The number of seats changes from game to game.
    """
    rules = GAMES[game]
    codec, choose = GameCodec(rules), [load(bot) for bot in BOTS]
    for board in count():
        chance = random.Random(board)
        form = MeasuredForm(rules, rules.seats[board % len(rules.seats)])
        seating = [chance.choice(choose) for _ in range(form.seats)]
        start = rules.start(Seeded(board_seed(SEED, board)), form.seats, form.given)
        played: list[State] = []

        def watched(state: State, seen: list[State] = played) -> bool:
            seen.append(state)
            return False

        end = played_on(start, codec, board, seating, watched)
        shares = first_place_shares(end.place_keys, form.sides)
        by_side = dict(zip(form.sides, shares, strict=True))
        for state in chance.sample(played, min(POSITIONS_PER_GAME, len(played))):
            yield form, state, by_side


def report(predicted: Sequence[Prediction]) -> Iterator[str]:
    """Yield the lines that describe predictions."""
    score = _squared_error(predicted, [each.predicted for each in predicted])
    base = _squared_error(predicted, [1 / each.sides for each in predicted])
    bins = [list(_within(predicted, *bounds)) for bounds in pairwise(BOUNDS)]
    distance = sum(
        len(each) * abs(fmean(p.predicted for p in each) - fmean(p.result for p in each))
        for each in bins
        if each
    ) / len(predicted)
    yield f"squared error {score:.3f} ({base:.3f}), calibration error {distance:.3f}"
    for (low, high), each in zip(pairwise(BOUNDS), bins, strict=True):
        if each:
            means = fmean(p.predicted for p in each), fmean(p.result for p in each)
            yield f"  {low:4.2f} to {high:4.2f}: {len(each):6}  {means[0]:.3f}  {means[1]:.3f}"


def _squared_error(predicted: Sequence[Prediction], values: Sequence[float]) -> float:
    return fmean((value - each.result) ** 2 for value, each in zip(values, predicted, strict=True))


def _within(predicted: Iterable[Prediction], low: float, high: float) -> Iterator[Prediction]:
    last = high == BOUNDS[-1]
    return (p for p in predicted if low <= p.predicted < high or (last and p.predicted == high))


def main() -> None:
    """Measure the games of the command line."""
    parser = argparse.ArgumentParser(description="Measure the calibration of win probabilities.")
    parser.add_argument("--positions", type=at_least(1), default=10_000, help="per game")
    parser.add_argument("--game", choices=sorted(GAMES), action="append", help="default: all games")
    arguments = parser.parse_args()
    for game in arguments.game or sorted(GAMES):
        began = time.process_time()
        measured = predictions(game, arguments.positions)
        each = (time.process_time() - began) / arguments.positions
        print(f"{game}: {arguments.positions} positions, {each:.2f} s of CPU time each", flush=True)
        for knowledge, predicted in zip(
            ("public view", "hands as they were"), measured, strict=True
        ):
            for line in report(predicted):
                print(f"{knowledge}: {line}" if line[0] != " " else line, flush=True)


if __name__ == "__main__":
    main()

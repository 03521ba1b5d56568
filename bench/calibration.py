"""Measure the calibration of the win probability on positions of games between house bots.

    uv run python -m bench.calibration --positions 10000             # every game: hours
    uv run python -m bench.calibration --positions 1000 --game poke

`greedy` plays itself, or `bold` does: the win probability assumes equal players, and `greedy` has
a score of 0.99 against `bold` in Pokex. One position of each game is rated twice, as pages do:
from what spectators see, and with the hands as they were. Every side of a position is one
prediction; its result is 1 for the first place, and an equal share for a shared one. A second
position of a game would have the same result, which adds work but little information.

For each interval of predictions the command prints their number, their mean, and the mean result.
The line above has the mean squared error (Brier score) and, in parentheses, that of the prediction
1 / number of sides; and the mean distance between the two means (calibration error), with that of
perfect predictions: chance alone gives them as much, on average, with as many positions.
"""

import argparse
import random
import time
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
        seating = [chance.choice(choose)] * form.seats
        start = rules.start(Seeded(board_seed(SEED, board)), form.seats, form.given)
        played: list[State] = []

        def watched(state: State, seen: list[State] = played) -> bool:
            seen.append(state)
            return False

        end = played_on(start, codec, board, seating, watched)
        shares = first_place_shares(end.place_keys, form.sides)
        by_side = dict(zip(form.sides, shares, strict=True))
        yield form, chance.choice(played), by_side


def report(predicted: Sequence[Prediction]) -> Iterator[str]:
    """Yield the lines that describe predictions."""
    score = _squared_error(predicted, [each.predicted for each in predicted])
    base = _squared_error(predicted, [1 / each.sides for each in predicted])
    bins = _bins(predicted)
    error, by_chance = _calibration_error(predicted), _error_by_chance(predicted)
    yield f"squared error {score:.3f} ({base:.3f}), calibration error {error:.3f} ({by_chance:.3f})"
    for (low, high), each in zip(pairwise(BOUNDS), bins, strict=True):
        if each:
            means = fmean(p.predicted for p in each), fmean(p.result for p in each)
            yield f"  {low:4.2f} to {high:4.2f}: {len(each):6}  {means[0]:.3f}  {means[1]:.3f}"


def _squared_error(predicted: Sequence[Prediction], values: Sequence[float]) -> float:
    return fmean((value - each.result) ** 2 for value, each in zip(values, predicted, strict=True))


def _calibration_error(predicted: Sequence[Prediction]) -> float:
    return sum(abs(sum(p.predicted - p.result for p in each)) for each in _bins(predicted)) / len(
        predicted
    )


def _error_by_chance(predicted: Sequence[Prediction], draws: int = 100) -> float:
    """Return the mean calibration error if the predictions were the true probabilities."""
    chance, errors = random.Random(0), []
    for _ in range(draws):
        drawn: list[Prediction] = []
        while len(drawn) < len(predicted):
            # The sides of a position follow each other, and one of them is first.
            sides = predicted[len(drawn) : len(drawn) + predicted[len(drawn)].sides]
            (first,) = chance.choices(sides, [each.predicted for each in sides])
            drawn += [replace(each, result=float(each is first)) for each in sides]
        errors.append(_calibration_error(drawn))
    return fmean(errors)


def _bins(predicted: Iterable[Prediction]) -> list[list[Prediction]]:
    bins: list[list[Prediction]] = [[] for _ in BOUNDS[1:]]
    for each in predicted:
        bins[bisect(BOUNDS, each.predicted, hi=len(bins)) - 1].append(each)
    return bins


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

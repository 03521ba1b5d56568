"""Measure how many games mirrored boards save, by form and seating.

    uv run python -m bench.mirroring poke-2 --boards 50
    uv run python -m bench.mirroring saint_poker-4 --boards 25 --seating ABAB BABA

The factor is the variance of the score of a single game on a board of its own, divided by the
variance of the mean over a board's games times their number. A factor of 2 means half the games for
the same standard error; below 1, mirrored boards cost games. Each pair of bots plays boards of its
own. The factor is that of the pooled variances within pairs; its 95 % interval is from resampled
boards.

The bots are copies of the playout policy of `strong` that play at random in a share of their
decisions. A seating names the bot of each side, such as ABBB; by default A sits on every side in
turn, against copies of B. The score is the mean over all pairs of a side of A and a side of B.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.records.analysis.engine import Engine, engine_of
from bench.arguments import at_least
from bench.strength import MeasuredForm, forms
from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, board_seed, derive

SHARES: Final = (0, 3, 6, 12, 25, 50, 100)
"""Percentages of random actions of the bots."""
PAIRS: Final = tuple(combinations(SHARES, 2))[:20]
SEED: Final = (1).to_bytes(32, "big")
_BOARDS_OF_PAIR: Final = 1_000_000
_RESAMPLED: Final = 400
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def rotations(form: MeasuredForm) -> list[str]:
    """Return the seatings in which A sits on every side in turn."""
    sides = len(set(form.sides))
    return ["".join("A" if side == mine else "B" for side in range(sides)) for mine in range(sides)]


def pair_scores(
    form: MeasuredForm, number: int, seatings: Sequence[str], boards: int
) -> Iterator[list[tuple[float, float]]]:
    """Yield, for each board of a pair of bots, A's score and lead in points in every seating.

    Args:
        form: the form of the game.
        number: the number of the pair in `PAIRS`.
        seatings: the bot of each side, A or B.
        boards: how many boards to play.
    """
    shares = dict(zip("AB", PAIRS[number], strict=True))
    engine = engine_of(form.game.id)
    for board in range(number * _BOARDS_OF_PAIR, number * _BOARDS_OF_PAIR + boards):
        yield [
            result(
                form, play(form, engine, board, [shares[seating[s]] for s in form.sides]), seating
            )
            for seating in seatings
        ]


def play(form: MeasuredForm, engine: Engine, board: int, shares: Sequence[int]) -> State:
    """Play a board and return its last position.

    Args:
        form: the form of the game.
        engine: the engine whose policy plays.
        board: the number of the board.
        shares: the percentage of random actions of each seat.
    """
    seed = board_seed(SEED, board)
    state, decision = form.game.start(Seeded(seed), form.seats, form.given), 0
    base = int.from_bytes(derive(seed, "luck", 0)[:7], "big")
    while state.actors:
        moves: dict[int, Action] = {}
        for seat in state.actors:
            luck = base + (decision << 3 | seat)
            dice = random.Random(luck)
            if dice.random() < shares[seat] / 100:
                moves[seat] = state.legal(seat).any(dice)
            else:
                random.seed(luck)
                moves[seat] = engine.move(state, seat)
            decision += 1
        state = state.after(moves)
    return state


def result(form: MeasuredForm, state: State, seating: str) -> tuple[float, float]:
    """Return A's score against B, and the mean lead in points."""
    outcome = form.game.outcome(state, form.sides)
    places = dict(zip(form.sides, outcome.places, strict=True))
    points = dict(zip(form.sides, outcome.scores, strict=True))
    ours = [side for side, bot in enumerate(seating) if bot == "A"]
    theirs = [side for side, bot in enumerate(seating) if bot == "B"]
    score = fmean(
        (places[a] < places[b]) + (places[a] == places[b]) / 2 for a in ours for b in theirs
    )
    return score, fmean(points[a] for a in ours) - fmean(points[b] for b in theirs)


def factors(pairs: Sequence[Floats]) -> tuple[Factor, Factor]:
    """Return the factors of the score and of points.

    Args:
        pairs: for each pair of bots the results by board, seating and kind.
    """
    dice = np.random.default_rng(0)
    resampled = [
        _pooled([pair[dice.integers(len(pair), size=len(pair))] for pair in pairs])
        for _ in range(_RESAMPLED)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    score, points = (
        Factor(*map(float, each)) for each in zip(_pooled(pairs), low, high, strict=True)
    )
    return score, points


def _pooled(pairs: Sequence[Floats]) -> Floats:
    singles = sum(pair.var(axis=0, ddof=1).mean(axis=0) for pair in pairs)
    boards = sum(pair.mean(axis=1).var(axis=0, ddof=1) * pair.shape[1] for pair in pairs)
    return np.asarray(singles / boards)


def main() -> None:
    """Play all pairs and print the factors of each form."""
    known = {str(form): form for form in forms()}
    parser = argparse.ArgumentParser(description="How many games mirrored boards save.")
    parser.add_argument("form", nargs="+", choices=known)
    parser.add_argument(
        "--boards", type=at_least(2), default=50, help="boards of each pair of bots"
    )
    parser.add_argument("--seating", nargs="+", help="the bot of each side, such as ABAB BABA")
    given = parser.parse_args()
    for seating in given.seating or ():
        for name in given.form:
            sides = len(set(known[name].sides))
            if set(seating) != {"A", "B"} or len(seating) != sides:
                parser.error(
                    f"argument --seating: {seating!r} is not valid for {name}: use {sides} letters "
                    f"A and B, one per side, for example {('AB' * sides)[:sides]}"
                )
    print("| form | seatings | boards | factor, win/draw/loss | factor, points |")
    print("|---|---|---|---|---|")
    for name in given.form:
        form = known[name]
        seatings = given.seating or rotations(form)
        pairs = [
            np.array(list(pair_scores(form, number, seatings, given.boards)))
            for number in range(len(PAIRS))
        ]
        score, points = factors(pairs)
        played = len(PAIRS) * given.boards
        print(f"| {name} | {' '.join(seatings)} | {played} | {score} | {points} |", flush=True)


if __name__ == "__main__":
    main()

"""Train the tables of Saint Poker by self-play: about ten minutes for all numbers of seats.

    uv run python sample_bots/house/champion/train_saint_poker.py --games 3000 --seed 1

Each generation plays games with the current tables and some noise. The new tables fit the points
that each hand gained from there on, by least squares. After every generation the program writes
the weights and continues from them, if it is started again with the same seed.
"""

import argparse
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from saint_hands import NONE, Cards, Numbers
from saint_table import (
    FEATURES,
    FUTURE,
    GAPS,
    RANK_COUNTS,
    RIVER,
    ROUNDS,
    SECOND,
    SEEN_RANKS,
    SHOWN,
    WIDTH,
    Tables,
    Weights,
    counted,
    features,
    load,
)

RIDGE = 20.0
GENERATIONS = 10
NOISE = 0.25
KEPT = 0.5
"""Share of the new weights of a generation; the rest is the earlier ones."""


def beginning() -> Weights:
    """Return simple first weights: high cards and groups are good."""
    hands = np.zeros((ROUNDS + 1, 4, FEATURES))
    ranks = hands[..., : 13 * RANK_COUNTS * SEEN_RANKS].reshape(ROUNDS + 1, 4, 13, RANK_COUNTS, -1)
    for count in range(1, RANK_COUNTS):
        ranks[..., count, :] = 0.12 * count * np.arange(13)[:, None] + 1.5 * (count - 1)
    wins = np.array([0, 0, 0, 0, 0.02, 0.05, 0.1, 0.5, 0.9, 0.95, 1, 1])
    return Weights(
        hands, np.tile(wins, (ROUNDS + 1, 1)), np.ones((ROUNDS + 1, 4)), np.zeros((ROUNDS + 1, 13))
    )


def dealt(seats: int, games: int, weights: Weights, rng: np.random.Generator) -> Tables:
    """Return new games."""
    tables = Tables(seats, games, weights, rng)
    decks = rng.permuted(np.tile(np.arange(NONE), (games, 1)), axis=1)
    held, turned = WIDTH * seats, FUTURE[seats]
    tables.hands = decks[:, :held].reshape(games, seats, WIDTH)
    tables.river = decks[:, held : held + turned]
    tables.future = decks[:, held + turned : held + 2 * turned]
    tables.stock = decks[:, held + 2 * turned :]
    return tables


class Lessons:
    """Samples for the fit, collected from a generation of games."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.rows: list[tuple[int, int, Cards, Numbers]] = []
        self.hidden = tables.hands.copy()
        self.first = counted(self.hidden)[..., :13].sum(axis=(0, 1))
        self.keeps = np.zeros((ROUNDS + 1, 13))
        self.won = np.zeros((ROUNDS + 1, len(GAPS) + 1))
        self.tried = np.zeros((ROUNDS + 1, len(GAPS) + 1))
        tables.watch = self.watch

    def watch(self, tables: Tables, act: int) -> None:
        """Store hands and points after an act."""
        number = tables.round
        seen = tables.base if act == RIVER else tables.future
        rows = features(counted(tables.hands), counted(seen)[:, None])
        self.rows.append((number, act, rows, tables.points.copy()))
        held = (self.hidden[..., None] == tables.hands[:, :, None, :]).any(axis=-1)
        self.hidden = np.where(held, self.hidden, NONE)
        if act == SHOWN:
            for seat in range(tables.seats):
                won = tables.order[:, -1] == seat
                np.add.at(self.won[number], tables.classes[:, seat], won)
                np.add.at(self.tried[number], tables.classes[:, seat], 1)
        if act == SECOND:
            left = counted(self.hidden)[..., :13].sum(axis=(0, 1)) + 1
            share = left / (self.first + 2)
            self.keeps[number + 1 if number < ROUNDS else number] = np.log(share / (1 - share))

    def fitted(self) -> Weights:
        """Return the weights that fit best."""
        tables = self.tables
        hands, spread = np.zeros((ROUNDS + 1, 4, FEATURES)), np.zeros((ROUNDS + 1, 4))
        for number, act, rows, points in self.rows:
            gain = tables.points - points
            inner, outer, square, count = _normal(rows, gain)
            weights = np.linalg.solve(inner + RIDGE * np.eye(FEATURES), outer)
            hands[number, act] = weights
            rest = float(square - 2 * weights @ outer + weights @ inner @ weights)
            spread[number, act] = max(0.0, rest / count) ** 0.5
        wins = (self.won + 0.5) / (self.tried + 1)
        wins = np.maximum.accumulate(wins, axis=1)
        return Weights(hands, wins, spread, self.keeps)


def _normal(rows: Cards, gain: Numbers) -> tuple[Numbers, Numbers, float, int]:
    """Return the normal equations for leads over the mean of the other seats."""
    games, seats, _ = rows.shape
    dense = np.zeros((games, seats, FEATURES), dtype=np.float32)
    np.put_along_axis(dense, rows, 1, axis=2)
    lead = dense * np.float32(seats / (seats - 1)) - dense.sum(axis=1, keepdims=True) / np.float32(
        seats - 1
    )
    ahead = gain * (seats / (seats - 1)) - gain.sum(axis=1, keepdims=True) / (seats - 1)
    table = lead[:, : 1 if seats == 2 else seats].reshape(-1, FEATURES)
    goal = ahead[:, : 1 if seats == 2 else seats].reshape(-1).astype(np.float32)
    return (
        (table.T @ table).astype(np.float64),
        (table.T @ goal).astype(np.float64),
        float(goal @ goal),
        len(goal),
    )


def mixed(old: Weights, new: Weights, share: float) -> Weights:
    """Return the weighted mean of weights."""
    pairs = zip(astuple(old), astuple(new), strict=True)
    return Weights(*((1 - share) * before + share * after for before, after in pairs))


def named(weights: Weights, seats: int) -> dict[str, Numbers]:
    """Return the arrays to store, by name."""
    values = zip(fields(Weights), astuple(weights), strict=True)
    return {f"{field.name}{seats}": array for field, array in values}


def generation(seats: int, games: int, weights: Weights, rng: np.random.Generator) -> Weights:
    """Play games and return the fitted weights."""
    tables = dealt(seats, games, weights, rng)
    tables.noise = NOISE
    lessons = Lessons(tables)
    for _ in range(ROUNDS):
        tables.play_round()
    return lessons.fitted()


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the tables of Saint Poker.")
    parser.add_argument("--games", type=int, default=3000, help="games of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--seats", type=int, choices=FUTURE, action="append")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("saint_poker.npz"))
    given = parser.parse_args()
    stored = dict(np.load(given.output)) if given.output.exists() else {}
    for seats in given.seats or FUTURE:
        done = int(stored.get(f"generations{seats}", 0))
        weights = load(given.output, seats) if done else beginning()
        for number in range(done, given.generations):
            rng = np.random.default_rng((given.seed, seats, number))
            new = generation(seats, given.games, weights, rng)
            weights = mixed(weights, new, KEPT if number else 1.0)
            stored.update(named(weights, seats))
            stored[f"generations{seats}"] = np.array(number + 1)
            np.savez_compressed(given.output, **stored)
            print(f"{seats} seats, generation {number + 1}", flush=True)


if __name__ == "__main__":
    main()

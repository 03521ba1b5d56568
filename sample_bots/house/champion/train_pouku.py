"""Train the tables of Pouku by self-play: about a minute of CPU.

    uv run python sample_bots/house/champion/train_pouku.py --deals 20000 --seed 1

A generation plays deals by the current policy. In a sample of the decisions every discard is played
to the end of the deal. The new ratings fit the differences of points by least squares.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from pouku_table import FEATURES, LONGEST, SIZES, Numbers, PoukuTables, Weights, features, named
from pouku_worth import RANKS, Counts

from referee.games.pouku import Pouku, form_of
from referee.games.pouku.state import FIELD, PoukuForm

RIDGE = 30.0
GENERATIONS = 4
NOISE = 0.5
REACH = 60
"""Largest change of a lead in the table."""


def dealt(form: PoukuForm, deals: int, weights: Weights, rng: np.random.Generator) -> PoukuTables:
    """Return new deals; the point card is the same in all."""
    point = int(rng.integers(RANKS))
    rest = np.delete(np.repeat(np.arange(RANKS), 4), 4 * point)
    cards = rng.permuted(np.tile(rest, (deals, 1)), axis=1)
    tables = PoukuTables(form, point, weights)
    rows, at = np.arange(deals), 0
    tables.hands, tables.fields = np.zeros((2, deals, form.seats, RANKS), dtype=np.int64)
    for counts, size in ((tables.hands, form.hand), (tables.fields, FIELD)):
        for seat in range(form.seats):
            for _ in range(size):
                counts[rows, seat, cards[:, at]] += 1
                at += 1
    tables.laid = np.zeros((deals, form.seats), dtype=np.int64)
    tables.stock = cards[:, at : at + LONGEST]
    tables.begin()
    return tables


def _centred(array: Numbers, rows: Counts) -> Numbers:
    """Subtract the mean of each position; the lines of a position are consecutive."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    lengths = np.diff(np.append(starts, len(rows)))
    means = np.add.reduceat(array, starts, axis=0) / lengths[:, None]
    return np.asarray(array - np.repeat(means, lengths, axis=0))


class Lessons:
    """The normal equations of the fit."""

    def __init__(self) -> None:
        self.inner = np.zeros((FEATURES, FEATURES))
        self.outer = np.zeros(FEATURES)

    def add(self, tables: PoukuTables) -> None:
        """Play every discard of each position to the end of the deal."""
        seat = tables.seat
        held = tables.hands[:, seat] > 0
        held[held.sum(axis=1) < 2] = False
        rows, choices = np.nonzero(held)
        if not len(rows):
            return
        played = tables.only(rows)
        played.watch = lambda tables, ranks: None
        lying, own = played.fields.sum(axis=1), played.fields[:, seat]
        every = features(played.hands[:, seat], played.reference(seat), lying, own, tables.point)
        chosen = every[np.arange(len(rows)), choices]
        dense = np.zeros((len(rows), FEATURES))
        np.put_along_axis(dense, chosen, 1, axis=1)
        played.begin()
        played.discard(choices)
        points = played.play()
        rivals = [s for s in range(tables.form.seats) if s not in tables.form.side(seat)]
        goal = (points[:, seat] - points[:, rivals].mean(axis=1)).astype(float)
        # The differences between the discards of one position do not depend on its luck.
        dense, goal = _centred(dense, rows), _centred(goal[:, None], rows)[:, 0]
        self.inner += dense.T @ dense
        self.outer += dense.T @ goal

    def fitted(self) -> Numbers:
        """Return the ratings that fit best."""
        return np.asarray(np.linalg.solve(self.inner + RIDGE * np.eye(FEATURES), self.outer))


def generation(form: PoukuForm, deals: int, weights: Weights, rng: np.random.Generator) -> Weights:
    """Play deals and return the fitted weights."""
    lessons = Lessons()
    leads: Numbers = np.full(2 * REACH + 1, 1e-9)
    for _ in range(max(1, deals // 1000)):
        tables = dealt(form, 1000, weights, rng)

        def watch(tables: PoukuTables, ranks: Counts) -> None:
            lessons.add(tables)
            # Some discards are random, so that more positions occur.
            rated = tables.ratings(tables.seat) + rng.gumbel(0, NOISE, tables.hands[:, 0].shape)
            ranks[:] = rated.argmax(axis=1)

        tables.watch = watch
        points = tables.play()
        for first in range(form.seats):
            for second in range(form.seats):
                if second not in form.side(first):
                    change = np.clip(points[:, first] - points[:, second], -REACH, REACH)
                    leads += np.bincount(change + REACH, minlength=len(leads))
    return Weights(lessons.fitted(), leads / leads.sum())


def beginning() -> Weights:
    """Return simple first weights: keep cards that have others of their rank or near it."""
    tables: list[Numbers] = [np.zeros(size) for size in SIZES]
    held, lying = np.divmod(np.arange(25), 5)
    tables[0] = np.asarray(-1.0 * (held + lying), dtype=np.float64)
    tables[3] = np.asarray(-0.3 * np.arange(5), dtype=np.float64)
    tables[6][1:] = -1.3
    return Weights(np.concatenate(tables), np.ones(1))


def forms() -> list[PoukuForm]:
    """Return the trained forms."""
    options = {name: option.default for name, option in Pouku.options.items()}
    three, four = (form_of(seats, options) for seats in Pouku.seats)
    return [three, four, form_of(4, {**options, "teams": True})]


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the tables of Pouku.")
    parser.add_argument("--deals", type=int, default=20000, help="deals of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("pouku.npz"))
    given = parser.parse_args()
    stored: dict[str, Any] = {}
    for form in forms():
        weights = beginning()
        for number in range(given.generations):
            rng = np.random.default_rng((given.seed, form.seats, form.teams, number))
            weights = generation(form, given.deals, weights, rng)
            print(f"{named(form)}, generation {number + 1}", flush=True)
        stored[f"discards_{named(form)}"] = weights.discards
        stored[f"leads_{named(form)}"] = weights.leads
    np.savez_compressed(given.output, **stored)


if __name__ == "__main__":
    main()

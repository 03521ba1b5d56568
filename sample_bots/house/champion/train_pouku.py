"""Train the tables of Pouku by self-play: about a minute of CPU.

    uv run python sample_bots/house/champion/train_pouku.py --deals 20000 --seed 1

A generation plays deals by the current policy. In each position of these deals every discard is
played to the end of the deal. The new ratings fit the differences of points by least squares.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from pouku_points import RANKS, IntArray
from pouku_simulator import (
    CARD_COUNTS,
    FEATURE_SIZES,
    FEATURES,
    MAX_TURNS,
    FloatArray,
    PoukuDeals,
    PoukuWeights,
    features,
    stored_name,
)

from referee.games.pouku import Pouku, form_of
from referee.games.pouku.state import FIELD, PoukuForm

RIDGE = 30.0
"""Ridge of the least-squares fit of the ratings."""
GENERATIONS = 4
NOISE = 0.5
"""Scale of the noise of a rating, in points, so that more positions occur."""
MAX_LEAD_CHANGE = 60
"""Largest change of a lead in the table, in points."""
BATCH = 1000
"""Deals that are played at once."""
LEAD_PRIOR = 1e-9
"""Added to the number of deals with each change of a lead, so that no share is zero."""
FIRST_CARD_RATING, FIRST_NEIGHBOUR_RATING, FIRST_POINT_RATING = -1.0, -0.3, -1.3
"""First rating of a discard: per card of its rank, per neighbour, and for the rank of the point
card."""


def deal(
    form: PoukuForm, deals: int, weights: PoukuWeights, rng: np.random.Generator
) -> PoukuDeals:
    """Return new deals; the rank of the point card is the same in all."""
    point_rank = int(rng.integers(RANKS))
    rest = np.delete(np.repeat(np.arange(RANKS), 4), 4 * point_rank)
    cards = rng.permuted(np.tile(rest, (deals, 1)), axis=1)
    new = PoukuDeals(form, point_rank, weights)
    rows, dealt = np.arange(deals), 0
    new.hands, new.fields = np.zeros((2, deals, form.seats, RANKS), dtype=np.int64)
    for counts, size in ((new.hands, form.hand), (new.fields, FIELD)):
        for seat in range(form.seats):
            for _ in range(size):
                counts[rows, seat, cards[:, dealt]] += 1
                dealt += 1
    new.kept_points = np.zeros((deals, form.seats), dtype=np.int64)
    new.stock = cards[:, dealt : dealt + MAX_TURNS]
    new.begin()
    return new


def _centred(array: FloatArray, positions: IntArray) -> FloatArray:
    """Subtract the mean of each position; the rows of a position are consecutive.

    Args:
        array: shape (rows, columns).
        positions: the position of each row.
    """
    starts = np.flatnonzero(np.diff(positions, prepend=-1))
    lengths = np.diff(np.append(starts, len(positions)))
    means = np.add.reduceat(array, starts, axis=0) / lengths[:, None]
    return np.asarray(array - np.repeat(means, lengths, axis=0))


class DiscardSamples:
    """The normal equations of the fit of ratings.

    Attributes:
        gram: normal matrix of the features, shape (FEATURES, FEATURES).
        moment: features times points, shape (FEATURES,).
    """

    def __init__(self) -> None:
        self.gram = np.zeros((FEATURES, FEATURES))
        self.moment = np.zeros(FEATURES)

    def add(self, deals: PoukuDeals) -> None:
        """Play every discard of each position to the end of the deal, and add the results.

        A sample is a position with a discard. Its target is the points of the seat minus the mean
        points of the other sides.
        """
        seat = deals.seat
        held = deals.hands[:, seat] > 0
        held[held.sum(axis=1) < 2] = False  # no choice
        rows, discards = np.nonzero(held)
        if not len(rows):
            return
        played = deals.only(rows)
        played.watch = lambda deals, ranks: None
        inputs = self._inputs(played, discards)
        played.begin()
        played.discard(discards)
        points = played.play()
        rivals = [s for s in range(deals.form.seats) if s not in deals.form.side(seat)]
        targets = (points[:, seat] - points[:, rivals].mean(axis=1)).astype(float)
        # The differences between the discards of one position do not depend on its luck.
        inputs, targets = _centred(inputs, rows), _centred(targets[:, None], rows)[:, 0]
        self.gram += inputs.T @ inputs
        self.moment += inputs.T @ targets

    def _inputs(self, deals: PoukuDeals, discards: IntArray) -> FloatArray:
        """Return the features of one discard in each deal as zeros and ones."""
        seat = deals.seat
        all_fields, own_field = deals.fields.sum(axis=1), deals.fields[:, seat]
        indices = features(
            deals.hands[:, seat], deals.reference(seat), all_fields, own_field, deals.point_rank
        )
        of_discard = indices[np.arange(len(discards)), discards]
        inputs = np.zeros((len(discards), FEATURES))
        np.put_along_axis(inputs, of_discard, 1, axis=1)
        return inputs

    def fitted(self) -> FloatArray:
        """Return the ratings that fit best."""
        return np.asarray(np.linalg.solve(self.gram + RIDGE * np.eye(FEATURES), self.moment))


def next_generation(
    form: PoukuForm, deals: int, weights: PoukuWeights, rng: np.random.Generator
) -> PoukuWeights:
    """Play deals and return the fitted weights."""
    samples = DiscardSamples()
    leads: FloatArray = np.full(2 * MAX_LEAD_CHANGE + 1, LEAD_PRIOR)

    def watch(deals: PoukuDeals, ranks: IntArray) -> None:
        samples.add(deals)
        noise = rng.gumbel(0, NOISE, deals.hands[:, 0].shape)
        ranks[:] = (deals.ratings(deals.seat) + noise).argmax(axis=1)

    for _ in range(max(1, deals // BATCH)):
        batch = deal(form, BATCH, weights, rng)
        batch.watch = watch
        points = batch.play()
        for first in range(form.seats):
            for second in range(form.seats):
                if second not in form.side(first):
                    change = points[:, first] - points[:, second]
                    change = np.clip(change, -MAX_LEAD_CHANGE, MAX_LEAD_CHANGE)
                    leads += np.bincount(change + MAX_LEAD_CHANGE, minlength=len(leads))
    return PoukuWeights(samples.fitted(), leads / leads.sum())


def first_weights() -> PoukuWeights:
    """Return simple first weights: keep cards that have others of their rank or near it."""
    by_feature: list[FloatArray] = [np.zeros(size) for size in FEATURE_SIZES]
    # The order is that of `features`: 0 is the hand and fields, 3 the neighbours, 6 the point card.
    held, in_fields = np.divmod(np.arange(CARD_COUNTS**2), CARD_COUNTS)
    cards = FIRST_CARD_RATING * (held + in_fields)
    by_feature[0] = np.asarray(cards, dtype=np.float64)
    neighbours = FIRST_NEIGHBOUR_RATING * np.arange(CARD_COUNTS)
    by_feature[3] = np.asarray(neighbours, dtype=np.float64)
    by_feature[6][1:] = FIRST_POINT_RATING
    return PoukuWeights(np.concatenate(by_feature), np.ones(1))


def trained_forms() -> list[PoukuForm]:
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
    for form in trained_forms():
        weights = first_weights()
        for generation in range(given.generations):
            rng = np.random.default_rng((given.seed, form.seats, form.teams, generation))
            weights = next_generation(form, given.deals, weights, rng)
            print(f"{stored_name(form)}, generation {generation + 1}", flush=True)
        stored[f"discards_{stored_name(form)}"] = weights.discards
        stored[f"leads_{stored_name(form)}"] = weights.leads
    np.savez_compressed(given.output, **stored)


if __name__ == "__main__":
    main()

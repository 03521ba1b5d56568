"""Train the tables of Saint Poker by self-play: about ten minutes for all numbers of seats.

    uv run python sample_bots/house/champion/train_saint_poker.py --games 3000 --seed 1

Each generation plays games with the current tables and some noise. The new tables fit the points
that each hand gained from there on, by least squares. After every generation the program writes
the weights and continues from them, if it is started again with the same seed.
"""

import argparse
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from saint_hands import NO_CARD, RANKS, FloatArray, IntArray
from saint_simulator import (
    AFTER_RIVER,
    AFTER_SECOND_PICK_UP,
    AFTER_SHOW,
    FEATURES,
    FUTURE_CARDS,
    GAP_LIMITS,
    HAND_SIZE,
    HELD_RANK_COUNTS,
    MOMENTS,
    RANK_FEATURES,
    ROUNDS,
    SaintGames,
    SaintWeights,
    card_counts,
    features,
    load,
)

RIDGE = 20.0
"""Ridge of the least-squares fit of the values of hands."""
GENERATIONS = 10
NOISE = 0.25
"""Scale of the noise of a rating, in points."""
NEW_SHARE = 0.5
"""Share of the new weights after a generation; the rest is the earlier ones."""
FIRST_RANK_VALUE, FIRST_GROUP_VALUE = 0.12, 1.5
"""First value of a card in points: per rank, and for each card with another one of its rank."""
FIRST_WINS = (0, 0, 0, 0, 0.02, 0.05, 0.1, 0.5, 0.9, 0.95, 1, 1)
"""First probabilities to win a round, by class of the gap."""


def first_weights() -> SaintWeights:
    """Return simple first weights: high cards and groups are good."""
    hands = np.zeros((ROUNDS + 1, MOMENTS, FEATURES))
    by_rank = hands[..., :RANK_FEATURES]
    by_rank = by_rank.reshape(ROUNDS + 1, MOMENTS, RANKS, HELD_RANK_COUNTS, -1)  # a view
    for count in range(1, HELD_RANK_COUNTS):
        rank_values = FIRST_RANK_VALUE * count * np.arange(RANKS)[:, None]
        by_rank[..., count, :] = rank_values + FIRST_GROUP_VALUE * (count - 1)
    return SaintWeights(
        hands,
        np.tile(np.array(FIRST_WINS), (ROUNDS + 1, 1)),
        np.ones((ROUNDS + 1, MOMENTS)),
        np.zeros((ROUNDS + 1, RANKS)),
    )


def new_games(
    seats: int, games: int, weights: SaintWeights, rng: np.random.Generator
) -> SaintGames:
    """Deal new games."""
    dealt = SaintGames(seats, games, weights, rng)
    decks = rng.permuted(np.tile(np.arange(NO_CARD), (games, 1)), axis=1)
    held, turned = HAND_SIZE * seats, FUTURE_CARDS[seats]
    dealt.hands = decks[:, :held].reshape(games, seats, HAND_SIZE)
    dealt.river = decks[:, held : held + turned]
    dealt.future = decks[:, held + turned : held + 2 * turned]
    dealt.stock = decks[:, held + 2 * turned :]
    return dealt


@dataclass(frozen=True)
class HandSample:
    """All hands of a generation at one moment of a round."""

    round: int
    moment: int
    features: IntArray
    """Indices of the features, shape (games, seats, 17)."""
    points: FloatArray
    """The points so far, shape (games, seats)."""


class GenerationSamples:
    """Samples for the fit, collected from a generation of games.

    Attributes:
        samples: the hands at each moment.
        first_cards: the cards of the first hands that are still held, with NO_CARD for others.
        first_ranks: number of all first cards by rank, shape (RANKS,).
        keeps: see `SaintWeights`.
        won: shown hands that won their round, by round and class of the gap.
        shown: all shown hands, by round and class of the gap.
    """

    def __init__(self, games: SaintGames) -> None:
        self.games = games
        self.samples: list[HandSample] = []
        self.first_cards = games.hands.copy()
        self.first_ranks = self._first_cards_by_rank()
        self.keeps = np.zeros((ROUNDS + 1, RANKS))
        self.won = np.zeros((ROUNDS + 1, len(GAP_LIMITS) + 1))
        self.shown = np.zeros((ROUNDS + 1, len(GAP_LIMITS) + 1))
        games.watch = self.watch

    def watch(self, games: SaintGames, moment: int) -> None:
        """Store hands and points at a moment of a round."""
        seen = games.previous_river if moment == AFTER_RIVER else games.future
        indices = features(card_counts(games.hands), card_counts(seen)[:, None])
        self.samples.append(HandSample(games.round, moment, indices, games.points.copy()))
        still_held = (self.first_cards[..., None] == games.hands[:, :, None, :]).any(axis=-1)
        self.first_cards = np.where(still_held, self.first_cards, NO_CARD)
        if moment == AFTER_SHOW:
            self._count_wins()
        if moment == AFTER_SECOND_PICK_UP:
            # One card more of each rank avoids a share of 0 or 1.
            share = (self._first_cards_by_rank() + 1) / (self.first_ranks + 2)
            self.keeps[min(games.round + 1, ROUNDS)] = np.log(share / (1 - share))

    def _first_cards_by_rank(self) -> IntArray:
        counts = card_counts(self.first_cards)[..., :RANKS]
        return np.asarray(counts.sum(axis=(0, 1)))

    def _count_wins(self) -> None:
        games = self.games
        for seat in range(games.seats):
            gap_class = games.gap_classes[:, seat]
            np.add.at(self.won[games.round], gap_class, games.order[:, -1] == seat)
            np.add.at(self.shown[games.round], gap_class, 1)

    def fitted(self) -> SaintWeights:
        """Return the weights that fit best; the games must be over."""
        hands = np.zeros((ROUNDS + 1, MOMENTS, FEATURES))
        spread = np.zeros((ROUNDS + 1, MOMENTS))
        for sample in self.samples:
            gained = self.games.points - sample.points
            gram, moments, squares, count = _normal_equations(sample.features, gained)
            weights = np.linalg.solve(gram + RIDGE * np.eye(FEATURES), moments)
            hands[sample.round, sample.moment] = weights
            residual = float(squares - 2 * weights @ moments + weights @ gram @ weights)
            spread[sample.round, sample.moment] = max(0.0, residual / count) ** 0.5
        wins = (self.won + 0.5) / (self.shown + 1)
        wins = np.maximum.accumulate(wins, axis=1)
        return SaintWeights(hands, wins, spread, self.keeps)


def _normal_equations(
    indices: IntArray, gained: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """Return the normal equations that predict leads over the mean of the other seats.

    The lead of one value x over the mean of n - 1 others is x * n / (n - 1) - sum / (n - 1), where
    the sum contains x. With two seats the leads are opposite, so only the first seat counts.

    Args:
        indices: the features of each hand, shape (games, seats, 17).
        gained: the points that each seat gained later, shape (games, seats).

    Returns:
        The normal matrix, the right-hand side, the sum of the squared leads in points, and the
        number of samples.
    """
    games, seats, _ = indices.shape
    dense = np.zeros((games, seats, FEATURES), dtype=np.float32)
    np.put_along_axis(dense, indices, 1, axis=2)
    feature_leads = dense * np.float32(seats / (seats - 1)) - dense.sum(
        axis=1, keepdims=True
    ) / np.float32(seats - 1)
    leads = gained * (seats / (seats - 1)) - gained.sum(axis=1, keepdims=True) / (seats - 1)
    used_seats = 1 if seats == 2 else seats
    inputs = feature_leads[:, :used_seats].reshape(-1, FEATURES)
    targets = leads[:, :used_seats].reshape(-1).astype(np.float32)
    return (
        (inputs.T @ inputs).astype(np.float64),
        (inputs.T @ targets).astype(np.float64),
        float(targets @ targets),
        len(targets),
    )


def mixed(old: SaintWeights, new: SaintWeights, share: float) -> SaintWeights:
    """Return the weighted mean of weights; ``share`` is the weight of the new ones."""
    pairs = zip(astuple(old), astuple(new), strict=True)
    return SaintWeights(*((1 - share) * before + share * after for before, after in pairs))


def stored_arrays(weights: SaintWeights, seats: int) -> dict[str, FloatArray]:
    """Return the arrays to store, by name."""
    values = zip(fields(SaintWeights), astuple(weights), strict=True)
    return {f"{field.name}{seats}": array for field, array in values}


def next_generation(
    seats: int, games: int, weights: SaintWeights, rng: np.random.Generator
) -> SaintWeights:
    """Play games and return the fitted weights."""
    dealt = new_games(seats, games, weights, rng)
    dealt.noise = NOISE
    samples = GenerationSamples(dealt)
    for _ in range(ROUNDS):
        dealt.play_round()
    return samples.fitted()


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the tables of Saint Poker.")
    parser.add_argument("--games", type=int, default=3000, help="games of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--seats", type=int, choices=FUTURE_CARDS, action="append")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("saint_poker.npz"))
    given = parser.parse_args()
    stored = dict(np.load(given.output)) if given.output.exists() else {}
    for seats in given.seats or FUTURE_CARDS:
        done = int(stored.get(f"generations{seats}", 0))
        weights = load(given.output, seats) if done else first_weights()
        for generation in range(done, given.generations):
            rng = np.random.default_rng((given.seed, seats, generation))
            new = next_generation(seats, given.games, weights, rng)
            weights = mixed(weights, new, NEW_SHARE if generation else 1.0)
            stored.update(stored_arrays(weights, seats))
            stored[f"generations{seats}"] = np.array(generation + 1)
            np.savez_compressed(given.output, **stored)
            print(f"{seats} seats, generation {generation + 1}", flush=True)


if __name__ == "__main__":
    main()

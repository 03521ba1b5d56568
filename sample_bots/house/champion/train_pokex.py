"""Train the tables of Pokex by self-play: about half a minute of CPU.

    uv run python sample_bots/house/champion/train_pokex.py --deals 20000 --seed 1

1. The tricks: a generation plays deals by the current tables with a little noise. The chances are
   the mean results of the plays. The worth of cards fits the later tricks by least squares.
2. The auction is played many times on the same deals, whose tricks are known for every declarer.
   The value of a call is its mean result.
3. The probability to win the game is computed backwards over the points of both sides.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np
from pokex_auction import Auctions, deal_points, game_results, learned_calls
from pokex_hands import (
    CARDS,
    MAX_CLASSES,
    TYPES,
    WILD,
    AnyArray,
    IntArray,
    class_table,
    every_hand,
)
from pokex_simulator import (
    CARDS_PER_PLAY,
    COMING_COUNTS,
    HELD_COUNTS,
    PLAYS_PER_TRICK,
    TRICKS,
    PokexDeals,
    PokexWeights,
    hand_strength,
    simulated_tricks,
    usual_wild_ranks,
)

from referee.games.pokex import Pokex
from referee.games.pokex.state import FORMS

GENERATIONS = 5
AUCTION_ROUNDS = 40
"""Times that the auction of each deal is played."""
NOISE = 0.06
"""Scale of the noise of a play, in tricks."""
RIDGE = 20.0
"""Ridge of the least-squares fit of the worth of cards."""
PRIOR_PLAYS = 30.0
"""Plays that count as much as the mean over all cards of the other side."""
BATCH = 2000
"""Deals that are played at once."""
STRENGTHS = 12
"""Classes of strength of a hand in the auction."""
FIRST_CHANCES = (0.0, 0.1, 0.25, 0.5, 0.85, 1.0)
"""First chances to win a trick, by the size of the largest group with the wild cards."""
FIRST_WILD_WORTH, FIRST_RANK_WORTH, FIRST_GROUP_WORTH = 0.22, 0.008, 0.03
"""First worth of a card in tricks: if wild, per rank, and per pair of cards of a rank."""

KINDS = np.array([*(rank // 5 for rank in range(WILD)), 3])
"""The kind of each type. Cards of a kind have the same worth: low, middle and high ranks, wild."""
KIND_COUNT = 4
COUNTS_PER_KIND = HELD_COUNTS * COMING_COUNTS
FEATURES = KIND_COUNT * COUNTS_PER_KIND
"""Features of a hand: its number of types for each kind, cards held and cards coming."""
CHANCE_CELLS = MAX_CLASSES * MAX_CLASSES


def first_weights(seats: int) -> PokexWeights:
    """Return simple first tables."""
    stages = PLAYS_PER_TRICK[seats]
    chances = np.zeros((stages, MAX_CLASSES, MAX_CLASSES), dtype=np.float32)
    centre_cards = FORMS[seats].centre // TRICKS
    for stage in range(stages - 1):
        own_size = centre_cards + CARDS_PER_PLAY[seats] * (stage // 2 + 1)
        for index, hand, _ in every_hand(own_size):
            natural = [rank for rank in hand if rank != WILD]
            wild = len(hand) - len(natural)
            largest = max(map(natural.count, natural), default=0) + wild
            chances[stage, :, class_table(own_size)[index]] = FIRST_CHANCES[min(largest, 5)]
    held, ranks = np.arange(HELD_COUNTS), np.arange(TYPES)[:, None]
    worth = FIRST_GROUP_WORTH * held * (held - 1) + FIRST_RANK_WORTH * ranks * held
    worth[WILD] = FIRST_WILD_WORTH * held
    table = np.tile(np.repeat(worth.ravel(), COMING_COUNTS), (TRICKS + 1, 1))
    table[0] = 0
    return PokexWeights(chances, table, np.zeros(STRENGTHS - 1), np.zeros(1), np.zeros(1))


def deal(seats: int, deals: int, rng: np.random.Generator) -> tuple[list[IntArray], IntArray]:
    """Return the hands by seat, and the centre cards by deal and trick."""
    form = FORMS[seats]
    cards = rng.permuted(np.tile(np.arange(CARDS), (deals, 1)), axis=1)
    hands = [cards[:, form.hand * seat : form.hand * (seat + 1)] for seat in range(seats)]
    held = form.hand * seats
    centre = cards[:, held : held + form.centre]
    return hands, centre.reshape(deals, TRICKS, -1)


class TrickSamples:
    """Results of plays, summed up for the fit of chances and worth.

    Attributes:
        total: sum of the results of plays, shape (stages, CHANCE_CELLS).
        count: number of plays, the same shape.
        gram: normal matrix of the features, by tricks left, shape (TRICKS + 1, FEATURES + 1,
            FEATURES + 1). The last feature is constant.
        moment: features times later tricks, by tricks left, shape (TRICKS + 1, FEATURES + 1).
    """

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.total = np.zeros((PLAYS_PER_TRICK[seats], CHANCE_CELLS))
        self.count = np.zeros_like(self.total)
        self.gram = np.zeros((TRICKS + 1, FEATURES + 1, FEATURES + 1))
        self.moment = np.zeros((TRICKS + 1, FEATURES + 1))

    def add(self, deals: PokexDeals) -> None:
        """Play deals to their ends and add their results."""
        rows, last = deals.rows, PLAYS_PER_TRICK[self.seats] - 1
        # Plays of the current trick: stage, side, flat index in the table of chances.
        trick_plays: list[tuple[int, int, IntArray]] = []
        prices: list[AnyArray] = []
        # At the beginning of each trick: the features, and the tricks taken by side 1.
        features: list[AnyArray] = []
        taken_before: list[AnyArray] = []

        def watch(now: PokexDeals, role: int, choice: IntArray) -> None:
            if now.stage == 0:
                trick_plays.clear()
                prices.clear()
                features.append(self._features(now))
                taken_before.append(now.taken[:, 1].copy())
            prices.append(now.paid)
            if now.stage < last:
                index = now.chance_index[np.arange(rows), choice]
                trick_plays.append((now.stage, role % 2, index))
            else:
                self._add_trick(now, role, choice, trick_plays, prices)

        deals.watch = watch
        taken = deals.play()[:, 1]
        for trick, (inputs, earlier) in enumerate(zip(features, taken_before, strict=True)):
            left = TRICKS - trick
            self.gram[left] += inputs.T @ inputs
            self.moment[left] += inputs.T @ (taken - earlier - left / 2)

    def _add_trick(
        self,
        now: PokexDeals,
        role: int,
        choice: IntArray,
        trick_plays: list[tuple[int, int, IntArray]],
        prices: list[AnyArray],
    ) -> None:
        """Add the result of a trick before its last play.

        The result of a play is 1 if its side wins the trick, minus the prices of the later plays of
        this side, plus those of the other side.
        """
        side = role % 2
        gains, cost = now.gains(role)
        rows = np.arange(now.rows)
        won = gains[rows, choice] + cost[rows, choice]
        for stage, play_side, index in trick_plays:
            result = won if play_side == side else 1 - won
            for later, price in enumerate(prices[stage + 1 :], stage + 1):
                result = result + (price if later % 2 != play_side else -price)
            self.total[stage] += np.bincount(index, result, minlength=CHANCE_CELLS)
            self.count[stage] += np.bincount(index, minlength=CHANCE_CELLS)

    def _features(self, now: PokexDeals) -> AnyArray:
        """Return the features of side 1 minus those of side 0, shape (rows, FEATURES + 1)."""
        features = np.zeros((now.rows, FEATURES + 1))
        features[:, -1] = 1
        row_start = np.arange(now.rows)[:, None] * (FEATURES + 1)
        for role in range(now.seats):
            counts_index = now.worth_index(role) % COUNTS_PER_KIND
            flat = row_start + KINDS * COUNTS_PER_KIND + counts_index
            sign = 2 * (role % 2) - 1
            features += sign * np.bincount(flat.ravel(), minlength=features.size).reshape(
                features.shape
            )
        return features

    def fitted(self, weights: PokexWeights) -> PokexWeights:
        """Return new tables.

        Args:
            weights: the tables by which the deals were played.
        """
        total = self.total.reshape(-1, MAX_CLASSES, MAX_CLASSES)
        count = self.count.reshape(-1, MAX_CLASSES, MAX_CLASSES)
        old_mean = weights.chances.mean(axis=1)
        mean = (total.sum(axis=1) + PRIOR_PLAYS * old_mean) / (count.sum(axis=1) + PRIOR_PLAYS)
        chances = (total + PRIOR_PLAYS * mean[:, None]) / (count + PRIOR_PLAYS)
        worth = weights.worth.copy()
        for left in range(1, TRICKS + 1):
            gram = self.gram[left] + RIDGE * np.eye(FEATURES + 1)
            by_kind = np.linalg.solve(gram, self.moment[left])[:-1].reshape(KIND_COUNT, -1)
            worth[left] = by_kind[KINDS].ravel()
        return PokexWeights(
            chances.astype(np.float32), worth, weights.strengths, weights.calls, weights.results
        )


def next_generation(
    seats: int, deals: int, weights: PokexWeights, rng: np.random.Generator
) -> PokexWeights:
    """Play deals by the tables and return the fitted tables."""
    samples = TrickSamples(seats)
    for _ in range(max(1, deals // BATCH)):
        hands, centre = deal(seats, min(deals, BATCH), rng)
        wild = usual_wild_ranks(hands[1], centre.reshape(len(centre), -1))
        batch = PokexDeals(weights, hands, centre, wild)
        batch.noise = lambda shape: rng.gumbel(0, NOISE, shape)
        samples.add(batch)
    return samples.fitted(weights)


def fit_auction(seats: int, deals: int, weights: PokexWeights, rng: np.random.Generator) -> None:
    """Fill the tables of the auction and of the game."""
    strength_parts, trick_parts, no_bid_parts = [], [], []
    for _ in range(max(1, deals // BATCH)):
        hands, by_trick = deal(seats, min(deals, BATCH), rng)
        centre = by_trick.reshape(len(by_trick), -1)
        ranks = [usual_wild_ranks(hand, centre) for hand in hands]
        strength_parts.append(
            [
                hand_strength(weights, hand, centre, rank)
                for hand, rank in zip(hands, ranks, strict=True)
            ]
        )
        trick_parts.append(
            [simulated_tricks(weights, hands, by_trick, ranks, seat) for seat in range(seats)]
        )
        no_bid_parts.append(simulated_tricks(weights, hands, by_trick, ranks, -1))
    strength: AnyArray = np.concatenate(strength_parts, axis=1).T
    tricks: AnyArray = np.concatenate(trick_parts, axis=1).T
    tricks_without_bid = np.concatenate(no_bid_parts)
    weights.strengths = np.quantile(strength, np.arange(1, STRENGTHS) / STRENGTHS)
    classes = np.searchsorted(weights.strengths, strength)
    weights.calls = learned_calls(weights, classes, tricks, tricks_without_bid, AUCTION_ROUNDS, rng)
    auctions = Auctions.begin(seats, len(tricks))
    auctions.play(weights, classes)
    weights.results = game_results(deal_points(auctions, tricks, tricks_without_bid))


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the tables of Pokex.")
    parser.add_argument("--deals", type=int, default=20000, help="deals of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("pokex.npz"))
    given = parser.parse_args()
    stored: dict[str, AnyArray] = {}
    for seats in Pokex.seats:
        weights = first_weights(seats)
        for generation in range(given.generations):
            rng = np.random.default_rng((given.seed, seats, generation))
            weights = next_generation(seats, given.deals, weights, rng)
            print(f"{seats} seats, generation {generation + 1}", flush=True)
        rng = np.random.default_rng((given.seed, seats, given.generations))
        fit_auction(seats, given.deals, weights, rng)
        for name, table in asdict(weights).items():
            stored[f"{name}_{seats}"] = table.astype(np.float32)
    np.savez_compressed(given.output, **stored)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

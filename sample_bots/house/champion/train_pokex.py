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
from pokex_hands import CLASSES, TYPES, WILD, Cards, Numbers, classes, every_hand
from pokex_table import (
    COMING,
    MOST,
    STAGES,
    TRICKS,
    PokexTables,
    Weights,
    best_ranks,
    strength,
    tricks_of,
)

from referee.games.pokex import Pokex
from referee.games.pokex.state import FORMS

GENERATIONS = 5
AUCTIONS = 40
"""Times that the auction of each deal is played."""
NOISE = 0.06
"""Scale of the noise of a play, in tricks."""
RIDGE = 20.0
PRIOR = 30.0
"""Plays that count as much as the mean over all cards of the other side."""
BATCH = 2000
"""Deals that are played at once."""
STRENGTHS = 12
"""Classes of strength of a hand in the auction."""
GROUP_CHANCES = (0.0, 0.1, 0.25, 0.5, 0.85, 1.0)
"""First chances, by the size of the largest group with the wild cards."""
WILD_WORTH, RANK_WORTH, GROUP_WORTH = 0.22, 0.008, 0.03
"""First worth of a card in tricks: if wild, per rank, and per pair of cards of a rank."""


def beginning(seats: int) -> Weights:
    """Return simple first tables."""
    chances = np.zeros((STAGES[seats], CLASSES, CLASSES), dtype=np.float32)
    centre = FORMS[seats].centre // TRICKS
    size = 2 if seats == 4 else 1
    for stage in range(STAGES[seats] - 1):
        ours = centre + size * (stage // 2 + 1)
        for place, hand, _ in every_hand(ours):
            natural = [t for t in hand if t != WILD]
            most = max(map(natural.count, natural), default=0) + len(hand) - len(natural)
            chances[stage, :, classes(ours)[place]] = GROUP_CHANCES[min(most, 5)]
    held, ranks = np.arange(MOST), np.arange(TYPES)[:, None]
    worth = GROUP_WORTH * held * (held - 1) + RANK_WORTH * ranks * held
    worth[WILD] = WILD_WORTH * held
    table = np.tile(np.repeat(worth.ravel(), COMING), (TRICKS + 1, 1))
    table[0] = 0
    return Weights(chances, table, np.zeros(STRENGTHS - 1), np.zeros(1), np.zeros(1))


def deal(seats: int, deals: int, rng: np.random.Generator) -> tuple[list[Cards], Cards]:
    """Return the hands by seat, and the rows of the centre."""
    form = FORMS[seats]
    cards = rng.permuted(np.tile(np.arange(54), (deals, 1)), axis=1)
    hands = [cards[:, form.hand * s : form.hand * (s + 1)] for s in range(seats)]
    held = form.hand * seats
    centre = cards[:, held : held + form.centre]
    return hands, centre.reshape(deals, TRICKS, -1)


KINDS = np.array([*(t // 5 for t in range(WILD)), 3])
"""Cards of a kind have the same worth: low, middle and high ranks, and wild cards."""
FEATURES = 4 * MOST * COMING
CELLS = CLASSES * CLASSES


class Lessons:
    """Results of plays."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.total = np.zeros((STAGES[seats], CELLS))
        self.count = np.zeros_like(self.total)
        self.inner = np.zeros((TRICKS + 1, FEATURES + 1, FEATURES + 1))
        self.outer = np.zeros((TRICKS + 1, FEATURES + 1))

    def add(self, tables: PokexTables) -> None:
        """Play deals to their ends."""
        rows, last = tables.rows, STAGES[self.seats] - 1
        seen: list[tuple[int, int, Cards]] = []
        paid: list[Numbers] = []
        hands: list[Numbers] = []
        before: list[Numbers] = []

        def watch(now: PokexTables, role: int, choice: Cards) -> None:
            if now.stage == 0:
                seen.clear()
                paid.clear()
                hands.append(self._features(now))
                before.append(now.taken[:, 1].copy())
            paid.append(now.paid)
            if now.stage < last:
                seen.append((now.stage, role % 2, now.cell[np.arange(rows), choice]))
            else:
                self._learn(now, role, choice, seen, paid)

        tables.watch = watch
        taken = tables.play()[:, 1]
        for trick, (features, earlier) in enumerate(zip(hands, before, strict=True)):
            left = TRICKS - trick
            self.inner[left] += features.T @ features
            self.outer[left] += features.T @ (taken - earlier - left / 2)

    def _learn(
        self,
        now: PokexTables,
        role: int,
        choice: Cards,
        seen: list[tuple[int, int, Cards]],
        paid: list[Numbers],
    ) -> None:
        """Store the result of a trick before its last play."""
        side = role % 2
        gains, cost = now.gains(role)
        rows = np.arange(now.rows)
        won = gains[rows, choice] + cost[rows, choice]
        for stage, own, cells in seen:
            result = won if own == side else 1 - won
            for number, price in enumerate(paid[stage + 1 :], stage + 1):
                result = result + (price if number % 2 != own else -price)
            self.total[stage] += np.bincount(cells, result, minlength=CELLS)
            self.count[stage] += np.bincount(cells, minlength=CELLS)

    def _features(self, now: PokexTables) -> Numbers:
        found = np.zeros((now.rows, FEATURES + 1))
        found[:, -1] = 1
        base = np.arange(now.rows)[:, None] * (FEATURES + 1)
        for role in range(now.seats):
            within = now.places_of(role) % (MOST * COMING)
            at = base + KINDS * MOST * COMING + within
            found += (2 * (role % 2) - 1) * np.bincount(at.ravel(), minlength=found.size).reshape(
                found.shape
            )
        return found

    def fitted(self, weights: Weights) -> Weights:
        """Return new tables."""
        total = self.total.reshape(-1, CLASSES, CLASSES)
        count = self.count.reshape(-1, CLASSES, CLASSES)
        old = weights.chances
        overall = (total.sum(axis=1) + PRIOR * old.mean(axis=1)) / (count.sum(axis=1) + PRIOR)
        chances = (total + PRIOR * overall[:, None]) / (count + PRIOR)
        worth = weights.worth.copy()
        for left in range(1, TRICKS + 1):
            inner = self.inner[left] + RIDGE * np.eye(FEATURES + 1)
            fit = np.linalg.solve(inner, self.outer[left])[:-1].reshape(4, MOST * COMING)
            worth[left] = fit[KINDS].ravel()
        return Weights(
            chances.astype(np.float32), worth, weights.strengths, weights.calls, weights.results
        )


def generation(seats: int, deals: int, weights: Weights, rng: np.random.Generator) -> Weights:
    """Play deals by the tables and return the fitted tables."""
    lessons = Lessons(seats)
    for _ in range(max(1, deals // BATCH)):
        hands, row = deal(seats, min(deals, BATCH), rng)
        wild = best_ranks(hands[1], row.reshape(len(row), -1))
        tables = PokexTables(weights, hands, row, wild)
        tables.noise = lambda shape: rng.gumbel(0, NOISE, shape)
        lessons.add(tables)
    return lessons.fitted(weights)


def fit_auction(seats: int, deals: int, weights: Weights, rng: np.random.Generator) -> None:
    """Fill the tables of the auction and of the game."""
    worths, tricks, passed = [], [], []
    for _ in range(max(1, deals // BATCH)):
        hands, row = deal(seats, min(deals, BATCH), rng)
        centre = row.reshape(len(row), -1)
        ranks = [best_ranks(hand, centre) for hand in hands]
        worths.append([strength(weights, h, centre, r) for h, r in zip(hands, ranks, strict=True)])
        tricks.append([tricks_of(weights, hands, row, ranks, seat) for seat in range(seats)])
        passed.append(tricks_of(weights, hands, row, ranks, -1))
    worth: Numbers = np.concatenate(worths, axis=1).T
    taken: Numbers = np.concatenate(tricks, axis=1).T
    none = np.concatenate(passed)
    weights.strengths = np.quantile(worth, np.arange(1, STRENGTHS) / STRENGTHS)
    strengths = np.searchsorted(weights.strengths, worth)
    weights.calls = learned_calls(weights, strengths, taken, none, AUCTIONS, rng)
    auctions = Auctions.begin(seats, len(taken))
    auctions.play(weights, strengths)
    weights.results = game_results(deal_points(auctions, taken, none))


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the tables of Pokex.")
    parser.add_argument("--deals", type=int, default=20000, help="deals of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("pokex.npz"))
    given = parser.parse_args()
    stored: dict[str, Numbers] = {}
    for seats in Pokex.seats:
        weights = beginning(seats)
        for number in range(given.generations):
            rng = np.random.default_rng((given.seed, seats, number))
            weights = generation(seats, given.deals, weights, rng)
            print(f"{seats} seats, generation {number + 1}", flush=True)
        rng = np.random.default_rng((given.seed, seats, given.generations))
        fit_auction(seats, given.deals, weights, rng)
        for name, table in asdict(weights).items():
            stored[f"{name}_{seats}"] = table.astype(np.float32)
    np.savez_compressed(given.output, **stored)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

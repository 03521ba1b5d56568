"""Make the tables of Poke by self-play: about a minute of CPU time.

    uv run python sample_bots/house/champion/train_poke.py --deals 300000 --seed 1

1. The tricks of every hand of five ranks against random hands, by the solution of open hands.
2. The draws: every generation plays deals with the current values and one random draw in each deal.
   The new values are the mean points that follow each way to draw.
3. How the final hands depend on the draws, and the value of every position of a rubber.
"""

import argparse
from dataclasses import astuple
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
from poke_hands import (
    FLUSH_DRAW,
    KINDS,
    RANK_HANDS,
    STAND,
    WAYS,
    Cards,
    Numbers,
    hand_values,
    in_groups,
    kinds,
    numbers_of_ranks,
    solve,
)
from poke_table import (
    CONTEXTS,
    DRAWS,
    GAPS,
    LEG_POINTS,
    NAMES,
    PATTERNS,
    REACH,
    STEP,
    SWEEP,
    Deals,
    PokeTables,
    Rubber,
)

GENERATIONS = 6
OPPONENTS = 48
"""Random hands against which every hand of ranks plays."""
POINT = 42.0
"""Value of a point below the line in points above the line."""
RANDOM_SHARE = 0.2
"""Probability of a random way to draw, for the hands that draws imply."""
DEALS_PER_BATCH = 5000
"""Deals of a generation for each thousand deals that fit the tricks."""
SMOOTH = 8.0
"""Hands of each kind that are added to every pattern."""
DOUBT = 30.0
"""Random draws of a kind of hand that count as much as the earlier value."""


def deal(deals: int, tables: PokeTables, rng: np.random.Generator) -> Deals:
    """Return new deals."""
    decks = rng.permuted(np.tile(np.arange(52), (deals, 1)), axis=1)
    return Deals(tables, decks[:, :10].reshape(deals, 2, 5), decks[:, 10:28])


def fit_trick_tables(
    tables: PokeTables, opponents: int, deals: int, rng: np.random.Generator
) -> None:
    """Fill the tables of the tricks."""
    every = np.array(list(combinations_with_replacement(range(13), 5)))
    every = every[(every[:, 0] != every[:, 4])]
    at = numbers_of_ranks(every << 2)
    for start in range(0, len(every), 200):
        block = every[start : start + 200]
        mine = np.repeat(block, opponents, axis=0)
        theirs = rng.permuted(np.tile(np.arange(52), (len(mine), 1)), axis=1)[:, :5] >> 2
        leads, replies = solve(mine.T, theirs.T, True)[5]
        rows = at[start : start + 200]
        tables.leading[rows] = leads[0, 0].reshape(-1, opponents).mean(axis=1)
        tables.following[rows] = 5 - replies[0, 0].reshape(-1, opponents).mean(axis=1)
    gaps, taken = [], []
    for _ in range(max(1, deals // DEALS_PER_BATCH)):
        hands = deal(1000, tables, rng).hands
        ranks = numbers_of_ranks(hands)
        gaps.append(tables.leading[ranks[:, 0]] - tables.following[ranks[:, 1]])
        taken.append(solve(hands[:, 0].T >> 2, hands[:, 1].T >> 2, True)[5][0][0, 0])
    gap, tricks = np.concatenate(gaps), np.concatenate(taken)
    tables.gaps = np.quantile(gap, np.arange(1, GAPS) / GAPS)
    counts = np.zeros((GAPS, 6))
    np.add.at(counts, (np.searchsorted(tables.gaps, gap), tricks), 1)
    tables.tricks = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)


def points(deals: Deals) -> Numbers:
    """Return the expected points of the non-dealer minus those of the dealer."""
    shares = deals.tricks()
    mean = shares @ np.arange(6)
    first, second = deals.multipliers()
    below = mean * second - (5 - mean) * first
    return np.asarray(deals.lead() + SWEEP * (shares[:, 5] - shares[:, 0]) + POINT * below)


def play_draws(deals: Deals, rng: np.random.Generator, odd: float) -> None:
    """Make all draws by the tables, some at random."""
    for role in (0, 1):
        rows = np.arange(len(deals.hands))
        while len(rows := rows[deals.draws[rows, role] < DRAWS[role]]):
            ways, values, _, _ = deals.ways(role, rows)
            ways = np.where(rng.random(len(rows)) < odd, _any_way(values, rng), ways)
            rows, ways = rows[ways != STAND], ways[ways != STAND]
            deals.draw(role, ways, rows)


def _any_way(values: Numbers, rng: np.random.Generator) -> Cards:
    noise = np.where(np.isfinite(values), rng.random(values.shape), -1)
    return np.asarray(noise.argmax(axis=1))


def improved_ways(tables: PokeTables, number: int, rng: np.random.Generator) -> Numbers:
    """Return new values of the ways to draw."""
    deals = deal(number, tables, rng)
    turn = rng.integers(sum(DRAWS), size=number)
    # The decision at which a deal draws at random: two of the non-dealer, then three of the dealer.
    notes = []
    for role in (0, 1):
        rows = np.arange(number)
        for step in range(DRAWS[role]):
            ways, values, contexts, kind = deals.ways(role, rows)
            now = turn[rows] == (step if role == 0 else 2 + step)
            ways = np.where(now, _any_way(values, rng), ways)
            notes.append((role, rows[now], contexts[now], kind[now], ways[now]))
            rows, ways = rows[ways != STAND], ways[ways != STAND]
            deals.draw(role, ways, rows)
    gained = points(deals)
    total, count = np.zeros_like(tables.ways), np.zeros_like(tables.ways)
    for role, rows, contexts, kind, ways in notes:
        at = (contexts, kind, ways)
        np.add.at(total, at, gained[rows] if role == 0 else -gained[rows])
        np.add.at(count, at, 1)
    return np.asarray((total + DOUBT * tables.ways) / (count + DOUBT))


def initial_tables() -> PokeTables:
    """Return tables that stand, unless a draw is free."""
    ways = np.zeros((CONTEXTS, KINDS * 4, WAYS))
    ways[:, :, 1:] = -POINT * 2
    ways[2::3, :, 1:] = 1
    ways[2::3, :, 3] = 2
    ways[:, 4 * 4 * 13 :, 1:] -= 500
    ways[:, :, FLUSH_DRAW:] -= 20
    hands = np.zeros(RANK_HANDS)
    legs = (2, 2, LEG_POINTS, LEG_POINTS, 2 * REACH + 1)
    return PokeTables(
        ways, hands, hands.copy(), np.zeros(GAPS - 1), np.zeros((GAPS, 6)),
        np.zeros((2, PATTERNS, KINDS)), np.zeros(legs),
    )  # fmt: skip


def fit_likely_hands(tables: PokeTables, number: int, rng: np.random.Generator) -> None:
    """Fill the table of the hands that draws imply."""
    before = np.zeros(KINDS)
    counts = np.zeros((2, PATTERNS, KINDS))
    for _ in range(4):
        deals = deal(number, tables, rng)
        np.add.at(before, kinds(hand_values(*in_groups(deals.hands))), 1)
        play_draws(deals, rng, RANDOM_SHARE)
        final = kinds(hand_values(*in_groups(deals.hands)))
        for role in (0, 1):
            np.add.at(counts[role], (deals.patterns(role), final[:, role]), 1)
    share = (before + 1e-3) / before.sum()
    counts += SMOOTH * share
    tables.likely = np.log(counts / counts.sum(axis=-1, keepdims=True) / share)


def fit_rubber_table(tables: PokeTables, number: int, rng: np.random.Generator) -> None:
    """Fill the value of every position of a rubber, from the end backwards."""
    deals = deal(number, tables, rng)
    play_draws(deals, rng, 0.0)
    shares = deals.tricks()
    tricks = (np.cumsum(shares, axis=1) < rng.random((number, 1))).sum(axis=1).clip(0, 5)
    first, second = deals.multipliers()
    swept = SWEEP * ((tricks == 5) * 1 - (tricks == 0) * 1)
    results = np.stack([tricks * second, (5 - tricks) * first, deals.lead() + swept], axis=1)
    results, counts = np.unique(results, axis=0, return_counts=True)
    weights = counts / counts.sum()
    below = (results[:, 0, None], results[:, 1, None])
    lead = results[:, 2, None] + STEP * np.arange(-REACH, REACH + 1)
    tables.rubber[...] = 0.5
    most = range(LEG_POINTS - 1, -1, -1)
    for group in (((1, 1),), ((0, 1), (1, 0)), ((0, 0),)):
        for total in range(2 * LEG_POINTS - 2, -1, -1):
            for legs, mine in product(group, most):
                if 0 <= (theirs := total - mine) < LEG_POINTS:
                    rubber = Rubber(legs, (mine, theirs), 0)
                    won = weights @ rubber.chances(below, lead, tables.rubber)
                    # The other seat dealt, and its lead is the opposite.
                    tables.rubber[legs[1], legs[0], theirs, mine] = 1 - won[::-1]


def main() -> None:
    """Train, and write the tables beside the bot."""
    parser = argparse.ArgumentParser(description="Make the tables of Poke.")
    parser.add_argument("--deals", type=int, default=300_000, help="deals of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--opponents", type=int, default=OPPONENTS, help="against each hand")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("poke.npz"))
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    tables = initial_tables()
    fit_trick_tables(tables, given.opponents, given.deals, rng)
    for number in range(given.generations):
        tables.ways = improved_ways(tables, given.deals, rng)
        print(f"generation {number + 1}", flush=True)
    fit_likely_hands(tables, given.deals // 4, rng)
    fit_rubber_table(tables, given.deals // 4, rng)
    sizes = [np.float32] * 6 + [np.float16]
    stored = zip(NAMES, astuple(tables), sizes, strict=True)
    np.savez_compressed(given.output, **{name: v.astype(size) for name, v, size in stored})


if __name__ == "__main__":
    main()

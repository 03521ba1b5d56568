"""Make the tables of Poke by self-play: about a minute of CPU time.

    uv run python sample_bots/house/champion/train_poke.py --deals 300000 --seed 1

1. The tricks of every hand of five ranks against random hands, by the solution of open hands.
2. The draws: every generation plays deals with the current values and one random draw in each deal.
   The new values are the mean points that follow each draw.
3. How the final hands depend on the draws, and the value of every position of a rubber.
"""

import argparse
from dataclasses import astuple
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
from poke_hands import (
    DRAW_CHOICES,
    FLUSH_DRAW,
    HAND_KINDS,
    HAND_SIZE,
    RANK_HANDS,
    RANKS,
    STAND,
    STRAIGHT,
    FloatArray,
    IntArray,
    hand_kinds,
    hand_values,
    rank_hand_numbers,
    solve_tricks,
    sorted_by_group,
)
from poke_simulator import (
    DEALER,
    DRAW_CONTEXTS,
    DRAW_PATTERNS,
    GAP_CLASSES,
    LEAD_UNIT,
    MAX_DRAWS,
    MAX_LEAD,
    MISFIT_KINDS,
    NON_DEALER,
    TABLE_NAMES,
    PokeDeals,
    PokeTables,
    Rubber,
    sweep_lead,
)

from referee.games.poke.state import LEG_POINTS, SWEEP

GENERATIONS = 6
OPPONENTS = 48
"""Random hands against which every hand of ranks plays."""
HANDS_PER_BLOCK = 200
"""Hands of ranks whose tricks are solved at once."""
BELOW_POINT_VALUE = 42.0
"""Value of a point below the line in points above the line."""
RANDOM_SHARE = 0.2
"""Probability of a random draw, for the hands that draws imply."""
DEALS_PER_BATCH = 5000
"""For each so many deals of a generation, one batch of deals fits the tricks."""
TRICK_BATCH = 1000
"""Deals of such a batch."""
LIKELY_BATCHES = 4
"""Batches of deals for the hands that draws imply."""
PRIOR_HANDS = 8.0
"""Hands that are added to every pattern of draws, distributed as before the draws."""
PRIOR_DRAWS = 30.0
"""Draws of a kind of hand that count as much as the earlier value."""
FIRST_DRAW_COST, FIRST_FREE_DRAW_GAIN, FIRST_STRAIGHT_COST, FIRST_MISFIT_COST = 84.0, 1, 500, 20
"""First values of draws in points: cost of a draw, gain of a free one, additional cost with a
straight or better, additional cost of a draw to a flush or straight."""
RUBBER_ORDER = (((1, 1),), ((0, 1), (1, 0)), ((0, 0),))
"""The legs of both seats in a rubber, from the end backwards; the legs of a group are computed
together."""


def deal(deals: int, tables: PokeTables, rng: np.random.Generator) -> PokeDeals:
    """Return new deals."""
    decks = rng.permuted(np.tile(np.arange(52), (deals, 1)), axis=1)
    dealt = 2 * HAND_SIZE
    return PokeDeals(tables, decks[:, :dealt].reshape(deals, 2, HAND_SIZE), decks[:, dealt:28])


def fit_trick_tables(
    tables: PokeTables, opponents: int, deals: int, rng: np.random.Generator
) -> None:
    """Fill the tables of the tricks.

    Args:
        tables: the tables.
        opponents: number of random hands against each hand of ranks.
        deals: deals of a generation.
        rng: the random generator.
    """
    _fit_mean_tricks(tables, opponents, rng)
    gap_parts, trick_parts = [], []
    for _ in range(max(1, deals // DEALS_PER_BATCH)):
        hands = deal(TRICK_BATCH, tables, rng).hands
        numbers = rank_hand_numbers(hands)
        gap_parts.append(tables.leading[numbers[:, 0]] - tables.following[numbers[:, 1]])
        if_leads, _ = solve_tricks(hands[:, 0].T >> 2, hands[:, 1].T >> 2, True)[HAND_SIZE]
        trick_parts.append(if_leads[0, 0])
    gap, tricks = np.concatenate(gap_parts), np.concatenate(trick_parts)
    tables.gaps = np.quantile(gap, np.arange(1, GAP_CLASSES) / GAP_CLASSES)
    counts = np.zeros((GAP_CLASSES, HAND_SIZE + 1))
    np.add.at(counts, (np.searchsorted(tables.gaps, gap), tricks), 1)
    tables.tricks = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)


def _fit_mean_tricks(tables: PokeTables, opponents: int, rng: np.random.Generator) -> None:
    """Fill the mean tricks of every hand of ranks against random hands."""
    every = np.array(list(combinations_with_replacement(range(RANKS), HAND_SIZE)))
    every = every[(every[:, 0] != every[:, 4])]  # without five cards of one rank
    numbers = rank_hand_numbers(every << 2)
    for start in range(0, len(every), HANDS_PER_BLOCK):
        block = every[start : start + HANDS_PER_BLOCK]
        mine = np.repeat(block, opponents, axis=0)
        decks = rng.permuted(np.tile(np.arange(52), (len(mine), 1)), axis=1)
        theirs = decks[:, :HAND_SIZE] >> 2
        if_leads, if_follows = solve_tricks(mine.T, theirs.T, True)[HAND_SIZE]
        rows = numbers[start : start + HANDS_PER_BLOCK]
        tables.leading[rows] = if_leads[0, 0].reshape(-1, opponents).mean(axis=1)
        other_tricks = if_follows[0, 0].reshape(-1, opponents).mean(axis=1)
        tables.following[rows] = HAND_SIZE - other_tricks


def expected_points(deals: PokeDeals) -> FloatArray:
    """Return the expected points of the non-dealer minus those of the dealer, by deal."""
    probabilities = deals.trick_probabilities()
    mean = probabilities @ np.arange(HAND_SIZE + 1)
    by_non_dealer, by_dealer = deals.multipliers()
    below = mean * by_dealer - (HAND_SIZE - mean) * by_non_dealer
    sweep = SWEEP * (probabilities[:, HAND_SIZE] - probabilities[:, 0])
    return np.asarray(deals.bonus_lead() + sweep + BELOW_POINT_VALUE * below)


def play_draws(deals: PokeDeals, rng: np.random.Generator, random_share: float) -> None:
    """Make all draws by the tables, a share of them at random."""
    for role in (NON_DEALER, DEALER):
        rows = np.arange(len(deals.hands))
        while len(rows := rows[deals.draws[rows, role] < MAX_DRAWS[role]]):
            ratings = deals.draw_ratings(role, rows)
            is_random = rng.random(len(rows)) < random_share
            choices = np.where(is_random, _random_draws(ratings.values, rng), ratings.best)
            rows, choices = rows[choices != STAND], choices[choices != STAND]
            deals.draw(role, choices, rows)


def _random_draws(values: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return a random allowed draw by hand; the value of other draws is minus infinity."""
    noise = np.where(np.isfinite(values), rng.random(values.shape), -1)
    return np.asarray(noise.argmax(axis=1))


def improved_draw_values(tables: PokeTables, number: int, rng: np.random.Generator) -> FloatArray:
    """Play deals with one random draw each; return new values of the draws.

    The decisions of a deal are numbered: two of the non-dealer, then three of the dealer. In each
    deal the draw of one of them, chosen at random, is random and becomes a sample.
    """
    deals = deal(number, tables, rng)
    random_decision = rng.integers(sum(MAX_DRAWS), size=number)
    samples = []
    for role in (NON_DEALER, DEALER):
        rows = np.arange(number)
        for draws in range(MAX_DRAWS[role]):
            ratings = deals.draw_ratings(role, rows)
            decision = draws if role == NON_DEALER else MAX_DRAWS[NON_DEALER] + draws
            now = random_decision[rows] == decision
            choices = np.where(now, _random_draws(ratings.values, rng), ratings.best)
            samples.append(
                (role, rows[now], ratings.contexts[now], ratings.kinds[now], choices[now])
            )
            rows, choices = rows[choices != STAND], choices[choices != STAND]
            deals.draw(role, choices, rows)
    gained = expected_points(deals)
    total, count = np.zeros_like(tables.ways), np.zeros_like(tables.ways)
    for role, rows, contexts, kinds, choices in samples:
        index = (contexts, kinds, choices)
        np.add.at(total, index, gained[rows] if role == NON_DEALER else -gained[rows])
        np.add.at(count, index, 1)
    return np.asarray((total + PRIOR_DRAWS * tables.ways) / (count + PRIOR_DRAWS))


def first_tables() -> PokeTables:
    """Return tables that stand, unless a draw is free."""
    draws = np.zeros((DRAW_CONTEXTS, HAND_KINDS * MISFIT_KINDS, DRAW_CHOICES))
    draws[:, :, 1:] = -FIRST_DRAW_COST
    # From context 2 on, each third one is a dealer without a draw, whose first draw is free.
    draws[2::3, :, 1:] = FIRST_FREE_DRAW_GAIN
    draws[2::3, :, 3] = 2 * FIRST_FREE_DRAW_GAIN
    draws[:, STRAIGHT * RANKS * MISFIT_KINDS :, 1:] -= FIRST_STRAIGHT_COST
    draws[:, :, FLUSH_DRAW:] -= FIRST_MISFIT_COST
    hands = np.zeros(RANK_HANDS)
    positions = (2, 2, LEG_POINTS, LEG_POINTS, 2 * MAX_LEAD + 1)
    return PokeTables(
        ways=draws,
        leading=hands,
        following=hands.copy(),
        gaps=np.zeros(GAP_CLASSES - 1),
        tricks=np.zeros((GAP_CLASSES, HAND_SIZE + 1)),
        likely=np.zeros((2, DRAW_PATTERNS, HAND_KINDS)),
        rubber=np.zeros(positions),
    )


def fit_likely_hands(tables: PokeTables, number: int, rng: np.random.Generator) -> None:
    """Fill the table of the hands that draws imply."""
    before = np.zeros(HAND_KINDS)
    counts = np.zeros((2, DRAW_PATTERNS, HAND_KINDS))
    for _ in range(LIKELY_BATCHES):
        deals = deal(number, tables, rng)
        np.add.at(before, hand_kinds(hand_values(*sorted_by_group(deals.hands))), 1)
        play_draws(deals, rng, RANDOM_SHARE)
        kinds = hand_kinds(hand_values(*sorted_by_group(deals.hands)))
        for role in (NON_DEALER, DEALER):
            np.add.at(counts[role], (deals.patterns(role), kinds[:, role]), 1)
    share_before = (before + 1e-3) / before.sum()
    counts += PRIOR_HANDS * share_before
    tables.likely = np.log(counts / counts.sum(axis=-1, keepdims=True) / share_before)


def fit_rubber_table(tables: PokeTables, number: int, rng: np.random.Generator) -> None:
    """Fill the value of every position of a rubber, from the end backwards."""
    below, above_lead, weights = _deal_results(tables, number, rng)
    # One row for each result of a deal, one column for each lead before the deal.
    below = (below[0][:, None], below[1][:, None])
    leads = above_lead[:, None] + LEAD_UNIT * np.arange(-MAX_LEAD, MAX_LEAD + 1)
    tables.rubber[...] = 0.5
    points = range(LEG_POINTS - 1, -1, -1)
    for leg_group in RUBBER_ORDER:
        for total in range(2 * LEG_POINTS - 2, -1, -1):
            for legs, own_points in product(leg_group, points):
                if 0 <= (other_points := total - own_points) < LEG_POINTS:
                    rubber = Rubber(legs, (own_points, other_points), 0)
                    won = weights @ rubber.win_probabilities(below, leads, tables.rubber)
                    # The table is that of the dealer, whose lead is the opposite.
                    tables.rubber[legs[1], legs[0], other_points, own_points] = 1 - won[::-1]


def _deal_results(
    tables: PokeTables, number: int, rng: np.random.Generator
) -> tuple[tuple[IntArray, IntArray], IntArray, FloatArray]:
    """Play deals by the tables.

    Returns:
        For each different result: the points below the line of the non-dealer and the dealer, the
        non-dealer's lead above the line, and the share of the deals with this result.
    """
    deals = deal(number, tables, rng)
    play_draws(deals, rng, 0.0)
    cumulative = np.cumsum(deals.trick_probabilities(), axis=1)
    tricks = (cumulative < rng.random((number, 1))).sum(axis=1).clip(0, HAND_SIZE)
    by_non_dealer, by_dealer = deals.multipliers()
    above_lead = deals.bonus_lead() + sweep_lead(tricks)
    results = np.stack(
        [tricks * by_dealer, (HAND_SIZE - tricks) * by_non_dealer, above_lead], axis=1
    )
    results, counts = np.unique(results, axis=0, return_counts=True)
    return (results[:, 0], results[:, 1]), results[:, 2], counts / counts.sum()


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
    tables = first_tables()
    fit_trick_tables(tables, given.opponents, given.deals, rng)
    for generation in range(given.generations):
        tables.ways = improved_draw_values(tables, given.deals, rng)
        print(f"generation {generation + 1}", flush=True)
    fit_likely_hands(tables, given.deals // 4, rng)
    fit_rubber_table(tables, given.deals // 4, rng)
    precisions = [np.float32] * 6 + [np.float16]  # the table of the rubber is the largest one
    stored = zip(TABLE_NAMES, astuple(tables), precisions, strict=True)
    np.savez_compressed(
        given.output, **{name: array.astype(precision) for name, array, precision in stored}
    )


if __name__ == "__main__":
    main()

"""Test the value of a match for the order: its formula, its updates and ties."""

import itertools
import random

import numpy as np
import pytest

from arena.formats.inversion_gains import InversionGains, information_of_ranking

NAMES = ["a", "b", "c", "d", "e"]
PRIOR = 0.4
GAMES = 6.0
APART = {name: name for name in NAMES}


def games(seed: int) -> dict[str, dict[str, float]]:
    dice = random.Random(seed)
    played: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    for first, second in itertools.combinations(NAMES, 2):
        counted = float(dice.choice((0, 4, 20)))
        if counted:
            played[first][second] = played[second][first] = counted
    return played


def means(seed: int) -> dict[str, float]:
    dice = random.Random(seed)
    return {name: dice.gauss(0, 1) for name in NAMES}


def chance(gap: float) -> float:
    return float(1 / (1 + np.exp(-gap)))


def covariance(seed: int, more: tuple[int, int] | None = None) -> np.ndarray:
    """Invert the curvature of the posterior, with one more match of a pair."""
    mean, before = means(seed), games(seed)
    bend = PRIOR * np.eye(len(NAMES))
    for (i, first), (j, second) in itertools.combinations(enumerate(NAMES), 2):
        played = before[first].get(second, 0.0) + GAMES * ((i, j) == more)
        p = chance(mean[first] - mean[second])
        ends = np.zeros(len(NAMES))
        ends[i], ends[j] = 1, -1
        bend += played * p * (1 - p) * np.outer(ends, ends)
    return np.linalg.inv(bend)


def saved(seed: int, pair: tuple[int, int]) -> float:
    """Return the weighted decrease of all variances by a match, summed pair by pair."""
    mean = means(seed)
    before, after = covariance(seed), covariance(seed, pair)
    total = 0.0
    for a, b in itertools.combinations(range(len(NAMES)), 2):
        now, then = (c[a, a] + c[b, b] - 2 * c[a, b] for c in (before, after))
        gap = mean[NAMES[a]] - mean[NAMES[b]]
        total += np.exp(-(gap**2) / (2 * now)) / now * (now - then)
    return float(total)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_pair_saves_most(seed: int) -> None:
    gains = InversionGains(NAMES, means(seed), games(seed), PRIOR, GAMES, APART)
    pairs = list(itertools.combinations(range(len(NAMES)), 2))
    best = gains.best(range(len(NAMES)))
    assert saved(seed, best) == pytest.approx(max(saved(seed, pair) for pair in pairs))
    others = list(range(1, len(NAMES)))
    assert gains.beside([0], others) == max(others, key=lambda place: saved(seed, (0, place)))


def test_a_scheduled_match_counts_as_played() -> None:
    gains = InversionGains(NAMES, means(1), games(1), PRIOR, GAMES, APART)
    first, second = gains.best(range(len(NAMES)))
    for _ in range(20):
        gains.learn([NAMES[first], NAMES[second], "someone else"])
    assert set(gains.best(range(len(NAMES)))) != {first, second}


def test_equal_gains_are_decided_by_waiting_time() -> None:
    nothing: dict[str, dict[str, float]] = {}
    gains = InversionGains(NAMES, dict.fromkeys(NAMES, 0.0), nothing, PRIOR, GAMES, APART)
    assert set(gains.best([4, 1, 3, 0, 2])) == {1, 3}
    assert gains.beside([0], [2, 1]) == 2


def test_members_of_one_clan_gain_nothing() -> None:
    clan = dict.fromkeys("abcd", "one") | {"e": "two"}
    gains = InversionGains(NAMES, means(2), games(2), PRIOR, GAMES, clan)
    assert 4 in gains.best(range(len(NAMES)))


@pytest.mark.parametrize("entrants", [2, 3, 4])
def test_a_ranking_has_the_fisher_information_of_plackett_and_luce(entrants: int) -> None:
    """The information is the mean outer product of the score vector, over all rankings."""
    rankings = list(itertools.permutations(range(entrants)))
    information = np.zeros((entrants, entrants))
    for ranking in rankings:
        score = np.zeros(entrants)
        for place, first in enumerate(ranking):
            score[first] += 1
            score[list(ranking[place:])] -= 1 / (entrants - place)
        information += np.outer(score, score) / len(rankings)
    counted = information_of_ranking(entrants) / (entrants - 1) / 4
    assert -information[0, 1] == pytest.approx(counted)


def test_information_multiplies_all_games() -> None:
    double = {name: {o: 2 * g for o, g in row.items()} for name, row in games(3).items()}
    gains = InversionGains(NAMES, means(3), double, PRIOR, 2 * GAMES, APART)
    same = InversionGains(NAMES, means(3), games(3), PRIOR, GAMES, APART, 2.0)
    turns = range(len(NAMES))
    assert gains.best(turns) == same.best(turns)
    assert [gains.beside([at], [0, 1, 2]) for at in (3, 4)] == [
        same.beside([at], [0, 1, 2]) for at in (3, 4)
    ]

"""The rules of strength: published figures, an oracle, and what must not matter."""

import itertools
import json
import math
import random

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.meetings import LineUp, Meetings, Sums, pairs
from arena.ratings.scale import ELO, Z95
from arena.ratings.strength import Strengths, strengths
from arena.ratings.strength_settings import StrengthSettings, Weighting
from arena.results import ClosedGame, ClosedMatch

LIKELIEST = StrengthSettings(centre=0.0, prior=math.inf, weighting="matches")
"""Plain maximum likelihood, as other programs have it."""


def match(number: int, entrants: tuple[str, ...], *places: tuple[int, ...]) -> ClosedMatch:
    games = tuple(
        ClosedGame(game, order, None, ("finished",) * len(order), (0,) * len(order))
        for game, order in enumerate(places)
    )
    return ClosedMatch(f"m-{number}", 0, number, entrants, games)


def wins(table: dict[str, int]) -> Meetings:
    """Single games: {"a>b": 3} says that a beat b three times; {"a=b": 1} is a draw."""
    played = []
    for result, times in table.items():
        one, sign, other = result
        places = (1, 2) if sign == ">" else (1, 1)
        played += [match(len(played) + n, (one, other), places) for n in range(times)]
    return Meetings.of(played)


def values(found: Strengths) -> dict[str, float]:
    return {line.entrant: line.value for line in found.lines}


@st.composite
def tournaments(draw: st.DrawFn, most: int = 4) -> list[ClosedMatch]:
    """Any matches of two or more of six entrants, with any results and numbers of games."""
    matches = []
    for number in range(draw(st.integers(1, 12))):
        entrants = draw(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=most, unique=True))
        score = st.lists(st.integers(0, 3), min_size=len(entrants), max_size=len(entrants))
        results = [
            tuple(1 + sum(other > own for other in scores) for own in scores)
            for scores in draw(st.lists(score, min_size=1, max_size=4))
        ]
        matches.append(match(number, tuple(entrants), *results))
    return matches


def test_open_spiels_figures_are_reached() -> None:
    """Wins [[0,4,2],[1,0,2],[3,3,0]]: gaps of 147.19 Elo, first equal to third."""
    table = {"a>b": 4, "a>c": 2, "b>a": 1, "b>c": 2, "c>a": 3, "c>b": 3}
    found = values(strengths(wins(table), LIKELIEST))
    assert found["a"] == pytest.approx(found["c"], abs=1e-6)
    assert f"{found['a'] - found['b']:.2f}" == "147.19"


@pytest.mark.parametrize("seed", range(3))
def test_without_a_prior_it_is_what_choix_fits(seed: int) -> None:
    dice = random.Random(seed)
    names, counted = "abcdefgh", np.zeros((8, 8))
    table = {}
    for one, other in itertools.permutations(range(8), 2):
        counted[one, other] = table[f"{names[one]}>{names[other]}"] = dice.randint(1, 9)
    oracle = choix.mm(8, choix_data(counted), max_iter=10_000, tol=1e-12)
    found = values(strengths(wins(table), LIKELIEST))
    expected = {name: ELO * value for name, value in zip(names, oracle, strict=True)}
    assert found == pytest.approx(expected, abs=1e-4)


def choix_data(counted: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> object:
    data = [
        (one, other)
        for one, other in itertools.permutations(range(len(counted)), 2)
        for _ in range(int(counted[one, other]))
    ]
    return choix_pairwise(data)


def choix_pairwise(data: list[tuple[int, int]]) -> object:
    return data

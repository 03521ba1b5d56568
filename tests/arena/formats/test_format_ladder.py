"""Test the rules of the ladder and its rating estimate."""

import random
from collections import Counter
from itertools import combinations
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import (
    Fixture,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    WaitForMatches,
)
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_pairing import PAIRINGS
from arena.formats.ladder_summary import LadderSummary
from arena.formats.strength_estimate import (
    StrengthEstimate,
    add_information,
    estimate_strengths,
    information_gain,
)
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone, game
from tests.examples import examples

EARLIER_LONG = [
    pytest.param(pairing, marks=() if pairing == max(PAIRINGS) else pytest.mark.long)
    for pairing in PAIRINGS
]
"""All pairings as cases; those of earlier ladders are in the long suite."""


def even(fixture: Fixture) -> bool:
    return fixture.why.startswith("even")


@pytest.mark.long
@given(
    count=st.integers(4, 12), sides=st.integers(2, 4), adaptive=st.integers(0, 90),
    batch=st.integers(0, 9), seed=st.integers(0, 2**32), data=st.data(),
    pairing=st.sampled_from(sorted(PAIRINGS)),
)  # fmt: skip
@settings(max_examples=examples(30))
def test_everyone_plays_within_the_stated_bound(
    count: int,
    sides: int,
    adaptive: int,
    batch: int,
    seed: int,
    data: st.DataObject,
    pairing: int,
) -> None:
    ladder = LadderFormat(sides, adaptive, batch, pairing=pairing)
    playing = SimulatedTournament(
        ladder, everyone(count), seed, random.Random(seed), lambda n: ord(n[1]) / 9
    )
    # The number of the match in which each entrant must play again at the latest.
    due = {entrant.name: ladder.bound(count) for entrant in playing.entrants}
    changes = data.draw(st.lists(st.sampled_from(["", "", "", "join", "leave"]), max_size=20))
    number = 0
    for change in [*changes, *[""] * 10]:
        step = playing.ask()
        playing.finish()
        active = [entrant for entrant in playing.entrants if entrant.withdrawn is None]
        for fixture in step.fixtures if isinstance(step, NextMatches) else ():
            number += 1
            for name in fixture.entrants:
                due[name] = number + ladder.bound(len(active))
            assert all(due[entrant.name] > number for entrant in active)
        if change == "join":
            playing.join(f"new{number}@{len(playing.entrants)}")
            due[playing.entrants[-1].name] = number + ladder.bound(len(active) + 1)
        elif change == "leave" and len(active) > sides:
            playing.withdraw(playing.entrants.index(playing.dice.choice(active)))


@given(adaptive=st.integers(0, 90), first=st.integers(0, 500), length=st.integers(1, 200))
def test_the_adaptive_matches_are_spread_evenly(adaptive: int, first: int, length: int) -> None:
    ladder = LadderFormat(adaptive=adaptive)
    adaptive_matches = sum(ladder.is_adaptive(number) for number in range(first, first + length))
    assert abs(adaptive_matches - length * adaptive / 100) < 1


@pytest.mark.long
@given(count=st.integers(3, 12), sides=st.integers(2, 3), seed=st.integers(0, 2**32))
@settings(max_examples=examples(10))
def test_even_matches_of_pairing_2_are_shared_evenly_among_entrants(
    count: int, sides: int, seed: int
) -> None:
    playing = SimulatedTournament(
        LadderFormat(sides, limit=100, adaptive=50, pairing=2),
        everyone(count),
        seed,
        random.Random(seed),
    )
    playing.play()
    fixtures = [fixture for fixture in playing.fixtures if even(fixture)]
    assert len(fixtures) == 50
    plays = Counter(name for fixture in fixtures for name in fixture.entrants)
    assert max(plays.values()) - min(plays.values()) <= 2


def share_of_close_pairs(pairing: int) -> float:
    """Return the share of even matches between the two equal bots of one of four strengths."""
    strength = {entrant.name: 2.0 * (place // 2) for place, entrant in enumerate(everyone(8))}
    playing = SimulatedTournament(
        LadderFormat(limit=200, adaptive=70, pairing=pairing),
        everyone(8),
        strength=strength.__getitem__,
        games=10,
    )
    playing.play()
    late = [fixture.entrants for fixture in playing.fixtures[50:] if even(fixture)]
    return sum(strength[first] == strength[second] for first, second in late) / len(late)


@pytest.mark.long
def test_pairing_3_chooses_the_closest_opponent_in_even_matches_too() -> None:
    assert share_of_close_pairs(2) < 0.9 < share_of_close_pairs(3)


@pytest.mark.parametrize("pairing", [2, 3])
def test_bots_of_one_owner_share_no_table(pairing: int) -> None:
    entrants = everyone(7, ["ada", "ada", "ada", "bob", "bob"])
    ladder = LadderFormat(3, adaptive=50, limit=60, pairing=pairing)
    playing = SimulatedTournament(ladder, entrants)
    playing.play()
    owner = {entrant.name: entrant.owner or entrant.name for entrant in entrants}
    assert all(len({owner[name] for name in f.entrants}) == 3 for f in playing.fixtures)


@given(count=st.integers(3, 12), sides=st.integers(2, 3), seed=st.integers(0, 2**32))
@settings(max_examples=examples(10))
def test_even_matches_are_shared_evenly_among_entrants_and_opponents(
    count: int, sides: int, seed: int
) -> None:
    limit = examples(100, 60)
    playing = SimulatedTournament(
        LadderFormat(sides, limit=limit), everyone(count), seed, random.Random(seed)
    )
    playing.play()
    fixtures = [fixture for fixture in playing.fixtures if even(fixture)]
    assert len(fixtures) == limit * 7 // 10
    plays = Counter(name for fixture in fixtures for name in fixture.entrants)
    assert max(plays.values()) - min(plays.values()) <= 2
    meetings = Counter(
        frozenset(pair) for fixture in fixtures for pair in combinations(fixture.entrants, 2)
    )
    names = [entrant.name for entrant in playing.entrants]
    times = [meetings[frozenset(pair)] for pair in combinations(names, 2)]
    assert max(times) - min(times) <= 3


@pytest.mark.long
@pytest.mark.parametrize("pairing", EARLIER_LONG)
def test_a_newcomer_catches_up_within_its_placement_matches(pairing: int) -> None:
    playing = SimulatedTournament(LadderFormat(placement=10, pairing=pairing), everyone(6))
    playing.play(examples(400, 200))
    playing.join("new@1")
    before = len(playing.fixtures)
    playing.play(before + 40)
    plays = Counter(name for fixture in playing.fixtures[before:] for name in fixture.entrants)
    others = [plays[entrant.name] for entrant in playing.entrants[:-1]]
    assert plays["new@1"] >= max(others)
    playing.play(before + 140)
    recent = Counter(name for fixture in playing.fixtures[-70:] for name in fixture.entrants)
    assert recent["new@1"] <= 2 * recent.total() / 7


@pytest.mark.parametrize("pairing", EARLIER_LONG)
def test_adaptive_matches_pair_entrants_of_similar_strength(pairing: int) -> None:
    strength = {"aa@1": 3.0, "ab@1": 0.1, "ac@1": 0.0, "ad@1": -3.0}
    playing = SimulatedTournament(
        LadderFormat(pairing=pairing), everyone(4), strength=strength.__getitem__, games=10
    )
    playing.play(examples(300, 160))
    late = [f.entrants for f in playing.fixtures[examples(100, 60) :] if not even(f)]
    assert late.count(("ab@1", "ac@1")) > 0.8 * len(late)


def test_a_round_starts_when_the_round_before_last_is_over() -> None:
    playing = SimulatedTournament(LadderFormat(batch=2), everyone(6))
    assert isinstance(playing.ask(), NextMatches)
    assert isinstance(playing.ask(), NextMatches)
    playing.close(2)
    playing.close(3)
    assert playing.ask() is None
    playing.close(0)
    assert playing.ask() is None
    playing.close(1)
    assert isinstance(playing.ask(), NextMatches)


def test_a_ladder_with_one_entrant_waits_and_continues() -> None:
    playing = SimulatedTournament(LadderFormat(), everyone(1))
    assert playing.format.next(playing.entrants, ()) == WaitForMatches(
        "a match needs 2 entrants; `tournament add` lets more in"
    )
    playing.join("b@1")
    step = playing.ask()
    assert isinstance(step, NextMatches)
    assert step.why == "a ladder runs until it is stopped"


def test_a_ladder_can_have_a_limit() -> None:
    playing = SimulatedTournament(LadderFormat(limit=25), everyone(6))
    assert playing.play() == FormatOver("the limit of 25 matches is reached")
    assert len(playing.matches) == 25
    assert not playing.opened()


def closed_match(first: str, second: str, wins: int, games: int) -> FormatMatch:
    places = [(1, 2) if number < wins else (2, 1) for number in range(games)]
    made = tuple(game(number, place) for number, place in enumerate(places))
    return FormatMatch(0, 0, (first, second), MatchStatus.CLOSED, made)


def test_the_strength_estimate_maximizes_the_posterior() -> None:
    summary = LadderSummary()
    played = [closed_match("a@1", "b@1", 75, 100), closed_match("b@1", "c@1", 50, 100)]
    summary.add(LadderFormat(), [FormatEntrant(name) for name in ("a@1", "b@1", "c@1")], played)
    guesses = summary.strengths(())
    gap = guesses["a@1"].mean - guesses["b@1"].mean
    assert 0.9 * log(3) < gap < log(3)
    # At the maximum, score minus expected score equals the derivative of the prior: mean /
    # variance.
    chance = 1 / (1 + exp(-gap))
    assert 75 - 100 * chance == pytest.approx(guesses["a@1"].mean / 1.5**2, abs=0.1)


def test_an_entrant_without_matches_has_the_prior_estimate() -> None:
    assert estimate_strengths(["a@1"], {})["a@1"] == StrengthEstimate(0.0, 1 / 1.5**2)


def test_a_match_of_close_and_uncertain_entrants_gains_most_information() -> None:
    close, far, known = StrengthEstimate(0.1), StrengthEstimate(2.0), StrengthEstimate(0.1, 50.0)
    cwd, there = StrengthEstimate(0.0), StrengthEstimate(0.0, 50.0)
    assert information_gain(cwd, close, 4) > information_gain(cwd, far, 4)
    assert information_gain(cwd, close, 4) > information_gain(there, known, 4)
    assert information_gain(cwd, close, 8) > information_gain(cwd, close, 4)
    assert information_gain(close, cwd, 4) == information_gain(cwd, close, 4)


def test_a_scheduled_match_lowers_the_information_gain_of_a_repeat() -> None:
    first, second = StrengthEstimate(0.1), StrengthEstimate(0.0)
    before = information_gain(first, second, 10)
    add_information(first, second, 10)
    assert information_gain(first, second, 10) < before


def test_newcomers_queue_behind_waiting_entrants() -> None:
    ladder = LadderFormat(adaptive=0, batch=1)
    playing = SimulatedTournament(ladder, everyone(6))
    for number in range(12):
        playing.ask()
        playing.finish()
        playing.join(f"new{number}@1")
    early = [fixture.entrants for fixture in playing.fixtures[: ladder.bound(6)]]
    assert {entrant.name for entrant in playing.entrants[:6]} <= {
        n for names in early for n in names
    }
    again = [fixture.entrants for fixture in playing.fixtures[6:]]
    assert "aa@1" in {name for names in again for name in names}

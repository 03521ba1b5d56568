"""Test the rules of the ladder, and the strengths from which it is paired."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats import pairing_strengths
from arena.formats.contract import (
    Fixture,
    FormatOver,
    NextMatches,
    WaitForMatches,
)
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_pairing import NEIGHBOURS
from arena.formats.ladder_schedule import LadderSchedule
from arena.formats.pairing_strengths import (
    CENTRE,
    STEP,
    fit_strengths,
    fitted_meetings,
    meetings_of,
)
from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import PackedSums, pack
from arena.ratings.strength.fit import strengths
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone
from tests.examples import examples


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "large":
        monkeypatch.setattr("arena.formats.ladder_pairing.MAX_GAIN_ENTRANTS", 0)


def even(fixture: Fixture) -> bool:
    return fixture.why.startswith("even")


@pytest.mark.long
@given(
    count=st.integers(4, 12), sides=st.integers(2, 4), adaptive=st.integers(0, 90),
    batch=st.integers(0, 9), seed=st.integers(0, 2**32), data=st.data(),
)  # fmt: skip
@settings(max_examples=examples(30))
def test_everyone_plays_within_the_stated_bound(
    count: int,
    sides: int,
    adaptive: int,
    batch: int,
    seed: int,
    data: st.DataObject,
) -> None:
    ladder = LadderFormat(sides, adaptive, batch)
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


def test_even_matches_choose_the_closest_opponent_too() -> None:
    """Most even matches are between the two equal bots of one of four strengths."""
    strength = {entrant.name: 2.0 * (place // 2) for place, entrant in enumerate(everyone(8))}
    playing = SimulatedTournament(
        LadderFormat(limit=200, adaptive=70), everyone(8), strength=strength.__getitem__, games=10
    )
    playing.play()
    late = [fixture.entrants for fixture in playing.fixtures[50:] if even(fixture)]
    close = sum(strength[first] == strength[second] for first, second in late)
    assert close > 0.9 * len(late)


@pytest.mark.usefixtures("size")
def test_bots_of_one_owner_share_no_table() -> None:
    entrants = everyone(7, ["ada", "ada", "ada", "bob", "bob"])
    ladder = LadderFormat(3, adaptive=50, limit=60)
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
        LadderFormat(sides, adaptive=0, limit=limit), everyone(count), seed, random.Random(seed)
    )
    playing.play()
    fixtures = playing.fixtures
    assert len(fixtures) == limit
    plays = Counter(name for fixture in fixtures for name in fixture.entrants)
    assert max(plays.values()) - min(plays.values()) <= 2
    meetings = Counter(
        frozenset(pair) for fixture in fixtures for pair in combinations(fixture.entrants, 2)
    )
    names = [entrant.name for entrant in playing.entrants]
    times = [meetings[frozenset(pair)] for pair in combinations(names, 2)]
    assert max(times) - min(times) <= 3


@pytest.mark.long
@pytest.mark.usefixtures("size")
def test_a_newcomer_catches_up_within_its_placement_matches() -> None:
    playing = SimulatedTournament(LadderFormat(adaptive=30, placement=10), everyone(6))
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


def test_adaptive_matches_pair_entrants_of_similar_strength() -> None:
    strength = {"aa@1": 3.0, "ab@1": 0.1, "ac@1": 0.0, "ad@1": -3.0}
    playing = SimulatedTournament(
        LadderFormat(adaptive=30), everyone(4), strength=strength.__getitem__, games=10
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


def played_ladder(matches: int, sides: int = 2) -> SimulatedTournament:
    """Return a ladder of eight bots of different strengths that is played in a random order."""
    strength = {entrant.name: 0.4 * place for place, entrant in enumerate(everyone(8))}
    playing = SimulatedTournament(
        LadderFormat(sides, adaptive=60), everyone(8), strength=strength.__getitem__, void=0.1
    )
    playing.play(matches)
    return playing


@pytest.mark.parametrize("sides", [2, 3])
def test_a_round_is_paired_from_the_published_strengths_of_all_but_the_last_round(
    sides: int,
) -> None:
    playing = played_ladder(60, sides)
    playing.finish()
    step = playing.ask()
    assert isinstance(step, NextMatches)
    assert step.strengths is not None
    number = step.fixtures[0].round
    before = meetings_of(match for match in playing.matches if match.round < number - 1)
    published = {line.entrant: line.value for line in strengths(before).lines}
    assert step.strengths.values.keys() == published.keys()
    for name, value in step.strengths.values.items():
        assert abs(value * STEP - published[name]) <= STEP / 2


def test_the_first_two_rounds_and_even_ladders_need_no_strengths() -> None:
    playing = SimulatedTournament(LadderFormat(), everyone(6))
    first, second = playing.ask(), playing.ask()
    assert isinstance(first, NextMatches)
    assert isinstance(second, NextMatches)
    assert first.strengths is None
    assert second.strengths is not None
    assert second.strengths.values == {}
    even_ladder = SimulatedTournament(LadderFormat(adaptive=0), everyone(6))
    even_ladder.play(30)
    even_ladder.finish()
    step = even_ladder.ask()
    assert isinstance(step, NextMatches)
    assert step.strengths is None


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("sides", [2, 3])
def test_a_round_paired_from_the_sums_of_the_first_rounds_is_the_same(sides: int) -> None:
    playing = played_ladder(60, sides)
    playing.finish()
    rules, entrants, matches = playing.format, playing.entrants, playing.matches
    assert isinstance(rules, LadderFormat)
    expected = rules.next(entrants, matches)
    newest = matches[-1].round
    for first in range(newest):
        schedule = LadderSchedule()
        schedule.add(rules, entrants, [match for match in matches if match.round < first])
        later = [match for match in matches if match.round >= first]
        step = rules.resume(
            entrants,
            schedule,
            later,
            lambda before: (0, meetings_of(match for match in matches if match.round < before)),
        )
        assert step == expected


def test_a_round_is_paired_exactly_from_given_strengths() -> None:
    """The fit itself is not used, so that another machine gets the same pairing."""
    playing = played_ladder(60)
    playing.finish()
    rules = playing.format
    assert isinstance(rules, LadderFormat)
    step = rules.next(playing.entrants, playing.matches)
    assert isinstance(step, NextMatches)
    assert step.strengths is not None
    stored = step.strengths.values
    assert rules.next(playing.entrants, playing.matches, lambda _: stored) == step
    others = dict(zip(stored, reversed(list(stored.values())), strict=True))
    changed = rules.next(playing.entrants, playing.matches, lambda _: others)
    assert isinstance(changed, NextMatches)
    assert changed.fixtures != step.fixtures


def test_the_sums_of_a_large_ladder_stay_arrays_while_its_pool_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairing_strengths, "MAX_FITTED_ENTRANTS", 2)
    game = PlayedGame(0, (1, 2), None, ("finished",) * 2, (0, 0))
    played = [
        ClosedMatch("", 0, number, pair, (game,))
        for number, pair in enumerate(map(tuple, ("ab", "bc", "ac")))
    ]
    chosen = fitted_meetings(Meetings(pack(Meetings.of(played).sums)), ["a", "b", "d"])
    assert isinstance(chosen.sums, PackedSums)
    assert chosen == Meetings.of(played[:1])


def test_entrants_without_results_have_the_strength_of_the_centre() -> None:
    assert fit_strengths(meetings_of(())) == {}
    assert CENTRE * STEP == 1200


def test_a_round_of_very_many_entrants_has_only_even_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.formats.ladder_pairing.MAX_GAIN_ENTRANTS", 0)
    for module in ("ladder", "ladder_schedule", "pairing_strengths"):
        monkeypatch.setattr(f"arena.formats.{module}.MAX_FITTED_ENTRANTS", 10)
    playing, expected = (
        SimulatedTournament(LadderFormat(adaptive=adaptive), everyone(11)) for adaptive in (80, 0)
    )
    playing.play(55)
    expected.play(55)
    assert playing.fixtures == expected.fixtures
    playing.withdraw(0)
    playing.play(85)
    assert not all(map(even, playing.fixtures[-20:]))


def test_adaptive_matches_of_a_large_ladder_are_among_neighbours_in_strength(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.formats.ladder_pairing.MAX_GAIN_ENTRANTS", 0)
    strength = {entrant.name: float(place) for place, entrant in enumerate(everyone(20))}
    playing = SimulatedTournament(
        LadderFormat(), everyone(20), strength=strength.__getitem__, games=40
    )
    playing.play(examples(600, 300))
    late = [f.entrants for f in playing.fixtures[examples(400, 200) :] if not even(f)]
    assert all(abs(strength[first] - strength[second]) <= NEIGHBOURS for first, second in late)
    assert {name for names in late for name in names} == strength.keys()


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

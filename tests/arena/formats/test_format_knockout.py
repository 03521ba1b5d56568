"""Test the rules of the knockout."""

import random
from dataclasses import replace
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import FormatMatch, FormatOver, MatchStatus, NextMatches
from arena.formats.knockout import VOIDS, KnockoutFormat, bracket
from tests.arena.formats.simulated_tournament import SimulatedTournament, equal, everyone, game
from tests.examples import examples


def test_the_bracket_of_sixteen_is_the_standard_one() -> None:
    seeds = [seed + 1 for seed in bracket(16)]
    pairs = [(seeds[place], seeds[place + 1]) for place in range(0, 16, 2)]
    assert pairs == [(1, 16), (8, 9), (4, 13), (5, 12), (2, 15), (7, 10), (3, 14), (6, 11)]


@given(st.integers(0, 6))
def test_if_the_better_seed_wins_the_best_meets_the_worst_remaining_seed(power: int) -> None:
    line = bracket(2**power)
    assert sorted(line) == list(range(2**power))
    while len(line) > 1:
        pairs = list(zip(line[::2], line[1::2], strict=True))
        assert {sum(pair) for pair in pairs} == {len(line) - 1}
        line = [min(pair) for pair in pairs]


def series(
    *means: float, best_of: int = 3, extra: int = 2
) -> tuple[KnockoutFormat, list[FormatMatch]]:
    """Return a final with the mean scores of the better seed per match; negative for void."""
    matches = []
    for number, mean in enumerate(means):
        names, wins = ("aa@1", "ab@1"), round(4 * mean)
        games = tuple(game(g, (1, 2) if g < wins else (2, 1)) for g in range(4))
        if mean < 0:
            matches.append(FormatMatch(0, number, names, MatchStatus.VOID))
        else:
            matches.append(FormatMatch(0, number, names, MatchStatus.CLOSED, games))
    return KnockoutFormat(best_of, extra), matches


FIRST, SECOND = (("aa@1",), ("ab@1",)), (("ab@1",), ("aa@1",))


@pytest.mark.parametrize(
    ("means", "ranking"),
    [
        ((1, 1), FIRST),  # two of three
        ((0.25, 0), SECOND),
        ((0.75, 0.25, 0.75), FIRST),
        ((0.5, 0.5, 0.25), SECOND),  # one win, two draws
        ((0.75, 0, 0.5), SECOND),  # level in matches, behind in scores
        ((1, 0.25, 0.5), FIRST),
        ((0.5, 0.5, 0.5, 0.25), SECOND),  # the first extra match
        ((0.5, 0.5, 0.5, 0.5, 0.25), SECOND),
        ((0.5, 0.5, 0.5, 0.5, 0.5), FIRST),  # level after all extra matches: the better seed
        ((-1, 0, -1, -1, -1), SECOND),  # too many void matches: the leader
        ((-1, -1, -1, -1), FIRST),  # too many void matches and level: the better seed
    ],
)
def test_a_series_is_decided_by_matches_then_scores_then_extra_matches_then_seed(
    means: tuple[float, ...], ranking: tuple[tuple[str, ...], ...]
) -> None:
    rules, matches = series(*means)
    end = rules.next(everyone(2), matches)
    assert isinstance(end, FormatOver)
    assert end.ranking == ranking


@pytest.mark.parametrize(
    ("means", "decided_by"),
    [
        ((1, 1), ""),
        ((0.5, 0.5, 0.25), ""),
        ((0.75, 0, 0.5), "score"),
        ((0.5, 0.5, 0.5, 0.5, 0.5), "seed"),
        ((-1, 0, -1, -1, -1), ""),
        ((0.5,), ""),
    ],
)
def test_a_tie_names_what_decided_it_beside_the_matches_won(
    means: tuple[float, ...], decided_by: str
) -> None:
    rules, matches = series(*means)
    (((tie,),),) = (rules.bracket(everyone(2), matches),)
    assert tie.decided_by == decided_by


def test_a_withdrawal_is_named_as_the_decision() -> None:
    rules, matches = series(0.5, 0.25)
    entrants = everyone(2)
    gone = [replace(entrants[0], withdrawn=0), entrants[1]]
    (((tie,),),) = (rules.bracket(gone, matches),)
    assert (tie.winner, tie.decided_by) == ("ab@1", "withdrawal")


@pytest.mark.parametrize(
    ("means", "best_of", "expected"),
    [
        ((), 1, 1),
        ((), 5, 3),  # at least three matches
        ((1,), 5, 2),
        ((1, 1), 5, 1),
        ((1, 0), 5, 2),
        ((0.5, 0.5, 0.5), 3, 1),  # level: one extra match
        ((0.5, 0.5, 0.5, 0.5), 3, 1),
        ((-1, -1), 3, 2),  # void matches are replaced
    ],
)
def test_only_certainly_needed_matches_of_a_series_are_scheduled(
    means: tuple[float, ...], best_of: int, expected: int
) -> None:
    rules, matches = series(*means, best_of=best_of)
    step = rules.next(everyone(2), matches)
    assert isinstance(step, NextMatches)
    assert [f.number for f in step.fixtures] == [len(means) + more for more in range(expected)]


@pytest.mark.long
@given(count=st.integers(2, 33), seed=st.integers(0, 2**32), best_of=st.integers(1, 5))
@settings(max_examples=examples(40))
def test_all_but_one_lose_once_and_the_best_seeds_get_the_byes(
    count: int, seed: int, best_of: int
) -> None:
    playing = SimulatedTournament(
        KnockoutFormat(best_of), everyone(count), seed, random.Random(seed), games=2, void=0.2
    )
    end = playing.play()
    assert end is not None
    assert sorted(name for group in end.ranking for name in group) == [
        entrant.name for entrant in playing.entrants
    ]
    stages = (count - 1).bit_length()
    assert [len(group) for group in end.ranking[:-1]] == [1, *(2**n for n in range(stages - 1))]
    first = {
        name for fixture in playing.fixtures if fixture.round == 0 for name in fixture.entrants
    }
    byes = [entrant.name for entrant in playing.entrants if entrant.name not in first]
    assert byes == [entrant.name for entrant in playing.entrants[: 2**stages - count]]
    pairs = {(f.round, f.entrants) for f in playing.fixtures}
    assert len(pairs) == count - 1


@given(st.integers(1, 6))
def test_certain_strengths_advance_by_seed(power: int) -> None:
    entrants = everyone(2**power)
    order = {entrant.name: -40.0 * place for place, entrant in enumerate(entrants)}
    playing = SimulatedTournament(KnockoutFormat(), entrants, strength=order.__getitem__, games=2)
    end = playing.play()
    assert end is not None
    flat = [name for group in end.ranking for name in group]
    assert flat == [entrant.name for entrant in entrants]
    assert len(end.ranking) == log2(len(entrants)) + 1


def test_a_withdrawn_entrant_loses_only_undecided_series() -> None:
    strength = {"aa@1": 40.0, "ab@1": 0.0, "ac@1": 0.0, "ad@1": 0.0}
    playing = SimulatedTournament(
        KnockoutFormat(3), everyone(4), strength=strength.__getitem__, games=1
    )
    playing.ask()
    for place in playing.opened():
        if "aa@1" in playing.matches[place].entrants:
            playing.close(place)
    playing.withdraw(0)
    end = playing.play()
    assert end is not None
    # aa has won its semi-final and keeps place 2; the entrant that it defeated stays out.
    assert end.ranking[1] == ("aa@1",)
    assert "ad@1" in end.ranking[2]


def test_if_both_withdraw_the_better_seed_advances() -> None:
    playing = SimulatedTournament(KnockoutFormat(), everyone(2), strength=equal)
    playing.withdraw(0)
    playing.withdraw(1)
    end = playing.ask()
    assert isinstance(end, FormatOver)
    assert end.ranking == FIRST


def test_an_advance_by_withdrawal_survives_a_later_withdrawal() -> None:
    # The worse seed always wins; aa withdraws before its first match.
    entrants = everyone(8)
    order = {entrant.name: 40.0 * place for place, entrant in enumerate(entrants)}
    playing = SimulatedTournament(KnockoutFormat(), entrants, strength=order.__getitem__, games=1)
    playing.ask()
    playing.withdraw(0)
    playing.matches[0] = replace(playing.matches[0], state=MatchStatus.VOID)
    playing.finish()
    playing.ask()
    assert [match.entrants for match in playing.matches if match.round == 1] == [
        ("ae@1", "ah@1"),
        ("af@1", "ag@1"),
    ]
    playing.finish()
    playing.ask()
    assert playing.matches[-1].entrants == ("ag@1", "ah@1")
    playing.withdraw(7)
    end = playing.play()
    # No eliminated entrant takes the free place; the final, which was running, counts.
    assert end is not None
    assert end.ranking == (
        *(("ah@1",), ("ag@1",)),
        ("ae@1", "af@1"),
        ("aa@1", "ab@1", "ac@1", "ad@1"),
    )


def test_a_series_decided_by_withdrawal_waits_for_its_open_matches() -> None:
    playing = SimulatedTournament(KnockoutFormat(3), everyone(2))
    playing.ask()
    playing.withdraw(1)
    assert playing.ask() is None
    playing.finish()
    assert isinstance(playing.ask(), FormatOver)


def test_entrants_cannot_join_a_knockout() -> None:
    playing = SimulatedTournament(KnockoutFormat(), everyone(4))
    playing.ask()
    playing.join("late@1")
    end = playing.play()
    assert end is not None
    assert not any("late@1" in group for group in end.ranking)


def test_all_series_leave_room_for_void_and_extra_matches() -> None:
    rules = KnockoutFormat(best_of=3, extra=2)
    step = rules.next(everyone(4), ())
    assert isinstance(step, NextMatches)
    assert [fixture.number for fixture in step.fixtures] == [0, 1, 5 + VOIDS, 6 + VOIDS]

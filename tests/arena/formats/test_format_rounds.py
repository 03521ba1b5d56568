"""Test the rules of the round robin and of the gauntlet."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import (
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    WaitForMatches,
    waiting,
)
from arena.formats.round_robin import GauntletFormat, RoundRobinFormat, round_robin
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone, game
from tests.errors import has_code
from tests.examples import examples


def meetings(playing: SimulatedTournament) -> Counter[frozenset[str]]:
    return Counter(
        frozenset(pair)
        for fixture in playing.fixtures
        for pair in combinations(fixture.entrants, 2)
    )


@pytest.mark.parametrize("cycles", [1, 3])
@pytest.mark.parametrize(("count", "sides"), [(2, 2), (7, 2), (8, 2), (7, 3), (20, 4), (13, 5)])
def test_a_round_robin_schedules_all_balanced_rounds_at_the_start(
    count: int, sides: int, cycles: int
) -> None:
    entrants = everyone(count)
    step = RoundRobinFormat(sides, cycles).next(entrants, ())
    assert isinstance(step, NextMatches)
    made = [(fixture.round, fixture.entrants) for fixture in step.fixtures]
    names = [entrant.name for entrant in entrants]
    assert made == [
        (pairing.round, tuple(names[place] for place in pairing.entrants))
        for pairing in round_robin(count, sides, cycles)
    ]
    places = [(fixture.round, fixture.number) for fixture in step.fixtures]
    assert places == sorted(places)


def test_a_round_robin_waits_for_its_matches_and_is_over_with_them() -> None:
    playing = SimulatedTournament(RoundRobinFormat(), everyone(3))
    playing.ask()
    assert isinstance(playing.format.next(playing.entrants, playing.matches), WaitForMatches)
    playing.finish()
    assert playing.ask() == FormatOver("everyone has met everyone")


@pytest.mark.parametrize("left", [1, 3, 4])
def test_up_to_three_matches_that_a_format_waits_for_are_named(left: int) -> None:
    closed = FormatMatch(0, 9, ("c@1", "d@1"), MatchStatus.VOID)
    state = (MatchStatus.OPEN, MatchStatus.LATE)
    matches = [FormatMatch(2, n, (f"a{n}@1", f"b{n}@1"), state[n % 2]) for n in range(left)]
    names = tuple(f"a{n}@1 - b{n}@1 (round 3)" for n in range(left))
    assert waiting([closed, *matches]).matches == (names if left <= 3 else ())


@given(count=st.integers(2, 9), cycles=st.integers(1, 3))
@settings(max_examples=examples(30))
def test_a_late_entrant_of_a_round_robin_meets_all_others(count: int, cycles: int) -> None:
    playing = SimulatedTournament(RoundRobinFormat(2, cycles), everyone(count))
    playing.ask()
    playing.join("x@1")
    playing.withdraw(0)
    playing.join("y@1")
    playing.play()
    counts = meetings(playing)
    for first, second in combinations(playing.entrants, 2):
        early = playing.entrants[0] in (first, second) and second.joined > 0
        assert counts[frozenset((first.name, second.name))] == (0 if early else cycles)


@given(
    owners=st.lists(st.sampled_from(["", "ann", "ben"]), min_size=6, max_size=10),
    sides=st.integers(3, 4),
    cycles=st.integers(1, 2),
)
@settings(max_examples=examples(40))
def test_pairs_without_a_common_owner_still_meet(
    owners: list[str], sides: int, cycles: int
) -> None:
    playing = SimulatedTournament(RoundRobinFormat(sides, cycles), everyone(len(owners), owners))
    if len(set(owners) - {""}) + owners.count("") < sides:
        return
    playing.play()
    counts = meetings(playing)
    for first, second in combinations(playing.entrants, 2):
        strangers = not first.owner or first.owner != second.owner
        times = counts[frozenset((first.name, second.name))]
        assert times >= cycles if strangers else times == 0


@given(count=st.integers(3, 14), challengers=st.integers(1, 2), cycles=st.integers(1, 3))
@settings(max_examples=examples(40))
def test_challengers_meet_all_others_equally_often_but_not_each_other(
    count: int, challengers: int, cycles: int
) -> None:
    playing = SimulatedTournament(GauntletFormat(2, cycles, challengers), everyone(count))
    playing.play()
    names = [entrant.name for entrant in playing.entrants]
    assert meetings(playing) == {
        frozenset((challenger, other)): cycles
        for challenger in names[:challengers]
        for other in names[challengers:]
    }


@given(count=st.integers(6, 20), sides=st.integers(3, 6), cycles=st.integers(1, 3))
@settings(max_examples=examples(40))
def test_at_larger_tables_meetings_of_a_challenger_differ_by_at_most_one(
    count: int, sides: int, cycles: int
) -> None:
    playing = SimulatedTournament(GauntletFormat(sides, cycles), everyone(count))
    playing.play()
    challenger, *field = [entrant.name for entrant in playing.entrants]
    times = [meetings(playing)[frozenset((challenger, name))] for name in field]
    assert min(times) == cycles
    assert max(times) <= cycles + 1
    assert all(challenger in fixture.entrants for fixture in playing.fixtures)


def gauntlets() -> Iterator[tuple[int, int, int, int]]:
    """Yield sides, cycles, challengers and entrants of gauntlets whose tables can be filled."""
    for sides, cycles, challengers in product(range(2, 7), (1, 2, 3, 5), range(1, 5)):
        for others in range(sides - 1, 11):
            yield sides, cycles, challengers, challengers + others


def test_challengers_meet_the_others_equally_often_within_one_and_not_each_other() -> None:
    for sides, cycles, challengers, count in gauntlets():
        entrants = everyone(count)
        step = GauntletFormat(sides, cycles, challengers).next(entrants, ())
        assert isinstance(step, NextMatches)
        shared_tables = Counter(
            frozenset(pair)
            for fixture in step.fixtures
            for pair in combinations(fixture.entrants, 2)
        )
        names = [entrant.name for entrant in entrants]
        for challenger in names[:challengers]:
            times = [shared_tables[frozenset((challenger, other))] for other in names[challengers:]]
            assert cycles <= min(times)
            assert max(times) <= min(times) + 1
            assert len(step.fixtures) * (sides - 1) < challengers * (
                cycles * (count - challengers) + sides - 1
            )
        assert not any(
            shared_tables[frozenset(pair)] for pair in combinations(names[:challengers], 2)
        )


def test_a_gauntlet_at_larger_tables_needs_enough_others() -> None:
    with pytest.raises(ValueError, check=has_code("challengers")):
        GauntletFormat(4, challengers=4).next(everyone(6), ())


def test_late_entrants_of_a_larger_gauntlet_keep_the_meetings_equal_within_one() -> None:
    playing = SimulatedTournament(GauntletFormat(4, 2, 2), everyone(8))
    playing.ask()
    playing.join("x@1")
    playing.join("y@1")
    playing.play()
    shared_tables = meetings(playing)
    for challenger in ("aa@1", "ab@1"):
        times = [shared_tables[frozenset((challenger, e.name))] for e in playing.entrants[2:]]
        assert min(times) >= 2
        assert max(times) <= min(times) + 1


def test_bots_of_one_owner_share_no_table_of_a_gauntlet() -> None:
    entrants = everyone(9, ["ada", "bob", "ada", "ada", "bob"])
    playing = SimulatedTournament(GauntletFormat(3, 2, 2), entrants)
    playing.play()
    owner = {entrant.name: entrant.owner or entrant.name for entrant in entrants}
    assert all(len({owner[name] for name in f.entrants}) == 3 for f in playing.fixtures)
    shared_tables = meetings(playing)
    assert shared_tables[frozenset(("aa@1", "ae@1"))] >= 2


def test_a_late_entrant_of_a_gauntlet_meets_only_the_challengers() -> None:
    playing = SimulatedTournament(GauntletFormat(), everyone(4))
    playing.ask()
    before = len(playing.fixtures)
    playing.join("x@1")
    playing.play()
    assert [fixture.entrants for fixture in playing.fixtures[before:]] == [("aa@1", "x@1")]


def test_every_entrant_plays_once_per_round() -> None:
    playing = SimulatedTournament(GauntletFormat(3, 2, 2), everyone(9))
    playing.play()
    for number in range(playing.fixtures[-1].round + 1):
        names = [
            n for fixture in playing.fixtures if fixture.round == number for n in fixture.entrants
        ]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("challengers", [0, 4])
def test_a_gauntlet_needs_challengers_and_others(challengers: int) -> None:
    with pytest.raises(ValueError, check=has_code("challengers")):
        GauntletFormat(challengers=challengers).next(everyone(4), ())


def result(number: int, names: tuple[str, ...], *games: tuple[int, ...]) -> FormatMatch:
    played = tuple(game(at, places) for at, places in enumerate(games))
    return FormatMatch(0, number, names, MatchStatus.CLOSED, played)


def test_a_round_robin_ranks_by_points_then_direct_result_then_scores() -> None:
    first, second, third, fourth = (entrant.name for entrant in everyone(4))
    won, half, drawn = ((1, 2), (1, 2)), ((1, 2), (1, 1)), ((1, 2), (2, 1))
    matches = [
        result(0, (first, second), *won),
        result(1, (third, first), *won),
        result(2, (first, fourth), *half),
        result(3, (second, third), *won),
        result(4, (second, fourth), *won),
        result(5, (third, fourth), *drawn),
    ]
    # The first two have 4 points, and the first beat the second.
    rules = RoundRobinFormat()
    assert rules.ranking(everyone(4), matches) == ((first,), (second,), (third,), (fourth,))
    # In the circle of three everyone has beaten one: the scores decide.
    circle = [
        result(0, (first, second), *won),
        result(1, (second, third), *half),
        result(2, (third, first), *half),
    ]
    assert rules.ranking(everyone(3), circle) == ((first,), (third,), (second,))
    level = [result(number, match.entrants, *won) for number, match in enumerate(circle)]
    assert rules.ranking(everyone(3), level) == ((first, second, third),)


def test_a_round_robin_without_a_result_has_no_ranking() -> None:
    names = tuple(entrant.name for entrant in everyone(2))
    void = [FormatMatch(0, 0, names, MatchStatus.VOID)]
    assert RoundRobinFormat().ranking(everyone(2), void) == ()


def test_a_gauntlet_ranks_its_challengers_before_the_field() -> None:
    first, second, third, fourth = (entrant.name for entrant in everyone(4))
    lost, won = ((2, 1),), ((1, 2),)
    matches = [
        result(0, (first, third), *lost),
        result(1, (first, fourth), *won),
        result(2, (second, third), *won),
        result(3, (second, fourth), *won),
    ]
    ranking = GauntletFormat(challengers=2).ranking(everyone(4), matches)
    assert ranking == ((second,), (first,), (third, fourth))
    assert GauntletFormat().ranking(everyone(4), matches) == ()


@pytest.mark.parametrize("count", [4, 9])
def test_the_ranking_does_not_depend_on_the_order_of_matches(count: int) -> None:
    playing = SimulatedTournament(RoundRobinFormat(3), everyone(count), seed=5)
    playing.play()
    rules = RoundRobinFormat(3)
    ranking = rules.ranking(playing.entrants, playing.matches)
    assert sorted(name for group in ranking for name in group) == [e.name for e in everyone(count)]
    assert rules.ranking(playing.entrants, playing.matches[::-1]) == ranking

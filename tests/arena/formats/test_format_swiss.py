"""Test the rules of the Swiss system."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import FormatMatch, FormatOver, MatchStatus, NextMatches, next_round
from arena.formats.swiss import SwissFormat, _SwissTable
from arena.formats.swiss_matching import best_pairs
from arena.formats.table_pool import choose, clans, fill, how_many
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone, game
from tests.errors import has_code
from tests.examples import examples

Pairs = set[tuple[int, int]]


def allowed(pairs: Pairs, first: int, second: int) -> bool:
    return (min(first, second), max(first, second)) in pairs


def first_by_wishes(left: Sequence[int], pairs: Pairs) -> list[tuple[int, int]] | None:
    """Pair each entrant with the first opponent that leaves a complete pairing; brute force."""
    if not left:
        return []
    player, *others = left
    for opponent in others:
        if allowed(pairs, player, opponent):
            rest = first_by_wishes([name for name in others if name != opponent], pairs)
            if rest is not None:
                return [(player, opponent), *rest]
    return None


@given(
    owners=st.lists(st.sampled_from(["", "ann", "ben", "cleo"]), min_size=1, max_size=16),
    sides=st.integers(3, 6),
    data=st.data(),
)
@settings(max_examples=examples(200))
def test_as_many_tables_are_filled_as_owners_allow(
    owners: list[str], sides: int, data: st.DataObject
) -> None:
    entrants = everyone(len(owners), owners)
    clan = clans(entrants, sides, owners_meet=False)
    pool = data.draw(st.permutations([entrant.name for entrant in entrants]))
    room = how_many(pool, sides, clan)
    made = fill(choose(pool, room, sides, clan), sides, clan, lambda _, name: pool.index(name))
    assert len(made) == room
    seated = [name for table in made for name in table]
    assert len(set(seated)) == len(seated) == room * sides
    assert all(len({clan[name] for name in table}) == sides for table in made)
    # The owners do not have enough entrants for one more table.
    sizes = Counter(clan.values())
    assert sum(min(size, room + 1) for size in sizes.values()) < (room + 1) * sides


def idle(playing: SimulatedTournament) -> list[int]:
    rounds = next_round(playing.matches)
    played = Counter(name for fixture in playing.fixtures for name in fixture.entrants)
    return [rounds - played[entrant.name] for entrant in playing.entrants]


@given(
    count=st.integers(2, 16), sides=st.integers(2, 6), rounds=st.integers(1, 12),
    seed=st.integers(0, 2**32),
)  # fmt: skip
@settings(max_examples=examples(60))
def test_byes_are_within_one_of_each_other_after_every_round(
    count: int, sides: int, rounds: int, seed: int
) -> None:
    if count < sides:
        return
    rules = SwissFormat(sides, rounds)
    playing = SimulatedTournament(rules, everyone(count), seed)
    for _ in range(rounds):
        assert isinstance(playing.ask(), NextMatches)
        assert max(idle(playing)) - min(idle(playing)) <= 1
        assert sum(idle(playing)) == count % sides * next_round(playing.matches)
        playing.finish()
    assert isinstance(playing.ask(), FormatOver)


def can_avoid(
    playing: SimulatedTournament, meetings: set[frozenset[str]], before: list[int]
) -> bool:
    """Return whether a round without repeated pairings and with a bye by the rules was possible."""
    names = [entrant.name for entrant in playing.entrants]
    if len(names) % 2 == 0:
        lines = [names]
    else:
        lines = [
            [other for other in names if other != name]
            for name, byes in zip(names, before, strict=True)
            if byes == min(before)
        ]
    return any(
        first_by_wishes(
            range(len(line)),
            {
                (a, b)
                for a, b in combinations(range(len(line)), 2)
                if frozenset((line[a], line[b])) not in meetings
            },
        )
        is not None
        for line in lines
    )


@given(count=st.integers(3, 10), rounds=st.integers(2, 10), seed=st.integers(0, 2**32))
@settings(max_examples=examples(80))
def test_entrants_do_not_meet_again_while_that_can_be_avoided(
    count: int, rounds: int, seed: int
) -> None:
    playing = SimulatedTournament(SwissFormat(2, rounds), everyone(count), seed)
    meetings: set[frozenset[str]] = set()
    for _ in range(rounds):
        before = idle(playing)
        step = playing.ask()
        assert isinstance(step, NextMatches)
        pairs = {frozenset(fixture.entrants) for fixture in step.fixtures}
        if can_avoid(playing, meetings, before):
            assert pairs.isdisjoint(meetings)
        meetings |= pairs
        playing.finish()


def matchings(left: Sequence[int]) -> list[list[tuple[int, int]]]:
    if not left:
        return [[]]
    player, *others = left
    return [
        [(player, opponent), *rest]
        for opponent in others
        for rest in matchings([name for name in others if name != opponent])
    ]


@given(seed=st.integers(0, 2**32), half=st.integers(1, 4))
@settings(max_examples=examples(40))
def test_the_best_pairs_minimize_the_costs_by_priority(seed: int, half: int) -> None:
    dice = random.Random(seed)
    costs = {
        pair: (dice.randrange(2), dice.randrange(3), dice.randrange(40))
        for pair in combinations(range(2 * half), 2)
        if dice.random() < 0.8
    }
    made = best_pairs(2 * half, lambda a, b: costs.get((a, b)))
    possible = [line for line in matchings(range(2 * half)) if all(pair in costs for pair in line)]

    def total(line: Sequence[tuple[int, int]]) -> list[int]:
        return [sum(level) for level in zip(*(costs[pair] for pair in line), strict=True)]

    assert (made is None) == (not possible)
    assert made is None or total(made) == min(map(total, possible))


def test_pairs_of_equal_costs_are_always_the_same() -> None:
    made = best_pairs(6, lambda a, b: (0,))
    assert made == best_pairs(6, lambda a, b: (7,))


def test_costs_that_the_library_cannot_add_up_are_refused() -> None:
    with pytest.raises(ValueError, check=has_code("too-many-entrants")):
        best_pairs(4, lambda a, b: (2**100,))


@given(seed=st.integers(0, 2**32), count=st.integers(4, 9), rounds=st.integers(2, 4))
@settings(max_examples=examples(20))
def test_without_repeats_the_squared_point_differences_are_minimal(
    seed: int, count: int, rounds: int
) -> None:
    rules = SwissFormat(2, rounds)
    playing = SimulatedTournament(rules, everyone(2 * (count // 2)), seed)
    for _ in range(rounds):
        table = _SwissTable(playing.entrants, playing.matches, 2)
        step = playing.ask()
        assert isinstance(step, NextMatches)
        names = [entrant.name for entrant in playing.entrants]

        def value(line: Sequence[Sequence[str]], table: _SwissTable = table) -> tuple[int, int]:
            gaps = [table.points[first] - table.points[second] for first, second in line]
            return sum(table.meetings[frozenset(pair)] for pair in line), sum(
                gap**2 for gap in gaps
            )

        best = min(
            value([(names[a], names[b]) for a, b in line]) for line in matchings(range(len(names)))
        )
        # Repeats are limited to the least number for any pair before they are counted.
        if best[0] == 0:
            assert value([fixture.entrants for fixture in step.fixtures]) == best
        playing.finish()


def test_an_entrant_does_not_meet_a_lower_one_twice_in_a_row_if_another_can() -> None:
    first = won(0, ("a", "e"), ("b", "f"), ("c", "g"), ("d", "h"))
    table = _SwissTable(everyone(8), first, 2)
    assert table.floated_down == table.floated_up == set()
    second = won(1, ("a", "b"), ("c", "e"), ("d", "g"), ("f", "h"))
    table = _SwissTable(everyone(8), first + second, 2)
    assert table.floated_down == {"ac@1", "ad@1"}
    assert table.floated_up == {"ae@1", "ag@1"}


def test_in_the_first_round_the_upper_half_meets_the_lower_half() -> None:
    step = SwissFormat().next(everyone(6), ())
    assert isinstance(step, NextMatches)
    assert [fixture.entrants for fixture in step.fixtures] == [
        ("aa@1", "ad@1"),
        ("ab@1", "ae@1"),
        ("ac@1", "af@1"),
    ]


@pytest.mark.parametrize("near", [32, 0])
def test_a_large_round_is_the_same_as_if_all_pairs_were_compared(
    monkeypatch: pytest.MonkeyPatch, near: int
) -> None:
    """Without any near pair, all pairs are compared."""
    playing = SimulatedTournament(SwissFormat(rounds=4), everyone(90), 1, random.Random(1))
    for _ in range(3):
        playing.ask()
        playing.finish()
    expected = playing.format.next(playing.entrants, playing.matches)
    monkeypatch.setattr("arena.formats.swiss.MAX_MATCHED_ENTRANTS", 0)
    monkeypatch.setattr("arena.formats.swiss.NEAR", near)
    assert playing.format.next(playing.entrants, playing.matches) == expected


def test_entrants_with_equal_points_meet() -> None:
    first = [("aa@1", "ac@1"), ("ab@1", "ad@1")]
    closed = [
        FormatMatch(0, number, pair, MatchStatus.CLOSED, (game(0, (1, 2)),))
        for number, pair in enumerate(first)
    ]
    step = SwissFormat(rounds=3).next(everyone(4), closed)
    assert isinstance(step, NextMatches)
    assert [(fixture.entrants, fixture.why) for fixture in step.fixtures] == [
        (("aa@1", "ab@1"), "2 against 2 points"),
        (("ac@1", "ad@1"), "0 against 0 points"),
    ]


def test_the_bye_goes_to_the_lowest_entrant_with_the_fewest_byes() -> None:
    playing = SimulatedTournament(SwissFormat(rounds=5), everyone(5))
    sat_out = []
    for _ in range(5):
        before = Counter(dict(zip(playing.entrants, idle(playing), strict=True)))
        playing.ask()
        (byed,) = Counter(dict(zip(playing.entrants, idle(playing), strict=True))) - before
        sat_out.append(byed)
        playing.finish()
    assert sat_out[0].name == "ae@1"
    assert len(set(sat_out)) == 5


@given(seed=st.integers(0, 2**32), sides=st.integers(2, 4))
@settings(max_examples=examples(20))
def test_all_points_are_awarded_and_every_entrant_is_ranked_once(seed: int, sides: int) -> None:
    playing = SimulatedTournament(SwissFormat(sides), everyone(11), seed, random.Random(seed))
    end = playing.play()
    assert end is not None
    assert sorted(name for group in end.ranking for name in group) == [
        entrant.name for entrant in playing.entrants
    ]
    assert all(sum(match.points) == sides * (sides - 1) for match in playing.matches)


def test_the_stronger_entrant_is_ranked_higher() -> None:
    strength = {"aa@1": -3.0, "ab@1": 0.0, "ac@1": 3.0, "ad@1": 6.0}
    playing = SimulatedTournament(
        SwissFormat(rounds=3), everyone(4), strength=strength.__getitem__, games=40
    )
    end = playing.play()
    assert end is not None
    assert end.ranking == (("ad@1",), ("ac@1",), ("ab@1",), ("aa@1",))


def won(number: int, *pairs: tuple[str, str]) -> list[FormatMatch]:
    """Close a round in which the first entrant of each pair wins."""
    return [
        FormatMatch(
            number, place, (f"a{winner}@1", f"a{loser}@1"), MatchStatus.CLOSED, (game(0, (1, 2)),)
        )
        for place, (winner, loser) in enumerate(pairs)
    ]


def test_equal_points_are_ranked_by_the_points_of_the_opponents() -> None:
    closed = won(0, ("a", "d"), ("b", "e"), ("c", "f")) + won(1, ("a", "b"), ("c", "d"), ("e", "f"))
    end = SwissFormat(rounds=2).next(everyone(6), closed)
    assert isinstance(end, FormatOver)
    # The opponents of a, c, b, e, d, f have 2, 0, 6, 2, 8, 6 points.
    assert "".join(name[1] for (name,) in end.ranking) == "acbedf"


@pytest.mark.parametrize(
    ("sides", "ranking"),
    [(2, (("ac@1",), ("aa@1", "ab@1"))), (3, (("aa@1", "ab@1", "ac@1", "ad@1"),))],
)
def test_a_bye_is_a_win_against_one_and_a_draw_at_a_table(
    sides: int, ranking: tuple[tuple[str, ...], ...]
) -> None:
    entrants = everyone(sides + 1)
    names = tuple(entrant.name for entrant in entrants[:sides])
    end = SwissFormat(sides, rounds=1).next(entrants, [FormatMatch(0, 0, names, MatchStatus.VOID)])
    assert isinstance(end, FormatOver)
    assert end.ranking == ranking


def test_too_few_are_left_for_another_round() -> None:
    playing = SimulatedTournament(SwissFormat(rounds=3), everyone(3))
    playing.ask()
    playing.finish()
    playing.withdraw(0)
    playing.withdraw(1)
    end = playing.ask()
    assert isinstance(end, FormatOver)
    assert end.why == "too few are left for a match"


@pytest.mark.parametrize(("count", "rounds"), [(2, 1), (4, 2), (5, 3), (16, 4), (17, 5)])
def test_the_default_number_of_rounds_is_that_of_a_knockout(count: int, rounds: int) -> None:
    playing = SimulatedTournament(SwissFormat(), everyone(count))
    playing.play()
    assert next_round(playing.matches) == rounds

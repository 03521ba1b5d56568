"""Test the rules of pairing: opponents, rounds and sides."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.round_robin import ALL_COMBINATIONS_UP_TO, Pairing, round_robin, seatings
from tests.errors import has_code
from tests.examples import examples


def plays(pairings: tuple[Pairing, ...], entrants: int) -> list[int]:
    count = Counter(entrant for pairing in pairings for entrant in pairing.entrants)
    return [count[entrant] for entrant in range(entrants)]


def meetings(pairings: tuple[Pairing, ...], entrants: int) -> list[int]:
    count = Counter(pair for pairing in pairings for pair in combinations(pairing.entrants, 2))
    return [count[pair] for pair in combinations(range(entrants), 2)]


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


def test_two_sides_are_seated_both_ways() -> None:
    assert seatings(2) == ((0, 1), (1, 0))


def test_three_sides_are_seated_in_three_rotations() -> None:
    assert seatings(3) == ((0, 1, 2), (1, 2, 0), (2, 0, 1))


@given(st.integers(1, 12))
def test_over_all_seatings_every_entrant_plays_every_side_once(sides: int) -> None:
    tables = seatings(sides)
    assert all(sorted(table) == list(range(sides)) for table in tables)
    assert all(sorted(played) == list(range(sides)) for played in zip(*tables, strict=True))


def test_a_match_without_sides_has_no_seatings() -> None:
    with pytest.raises(ValueError, check=has_code("sides")):
        seatings(0)


def test_four_entrants_meet_in_three_rounds_of_two_matches() -> None:
    pairings = round_robin(4, 2)
    assert [pairing.round for pairing in pairings] == [0, 0, 1, 1, 2, 2]
    assert sorted(pairing.entrants for pairing in pairings) == list(combinations(range(4), 2))


@given(st.integers(2, 40), st.integers(1, 3))
def test_with_two_sides_all_pairs_meet_once_per_cycle(entrants: int, cycles: int) -> None:
    assert set(meetings(round_robin(entrants, 2, cycles), entrants)) == {cycles}


@given(st.integers(2, 40), st.integers(1, 3))
def test_with_two_sides_only_an_odd_number_of_entrants_has_byes(entrants: int, cycles: int) -> None:
    pairings = round_robin(entrants, 2, cycles)
    byes = Counter[int]()
    for number in range(pairings[-1].round + 1):
        playing = {e for pairing in pairings if pairing.round == number for e in pairing.entrants}
        byes.update(set(range(entrants)) - playing)
    expected = cycles if entrants % 2 else 0
    assert [byes[entrant] for entrant in range(entrants)] == [expected] * entrants


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(st.integers(n, 30), st.just(n))))
@settings(deadline=None, max_examples=examples(60))
def test_entrants_play_once_per_round_and_no_round_is_empty(
    sizes: tuple[int, int],
) -> None:
    pairings = round_robin(*sizes, cycles=2)
    for number in range(pairings[-1].round + 1):
        playing = [e for pairing in pairings if pairing.round == number for e in pairing.entrants]
        assert playing
        assert len(playing) == len(set(playing))
    assert [pairing.round for pairing in pairings] == sorted(p.round for p in pairings)


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(st.integers(n, 30), st.just(n))))
@settings(deadline=None, max_examples=examples(60))
def test_a_match_has_as_many_different_entrants_as_sides_in_ascending_order(
    sizes: tuple[int, int],
) -> None:
    entrants, sides = sizes
    for pairing in round_robin(entrants, sides):
        assert len(pairing.entrants) == sides
        assert list(pairing.entrants) == sorted(set(pairing.entrants))
        assert set(pairing.entrants) <= set(range(entrants))


@pytest.mark.parametrize(
    ("entrants", "sides"), [(3, 3), (6, 3), (13, 3), (10, 4), (10, 5), (10, 6)]
)
def test_few_combinations_are_each_played_once_per_cycle(entrants: int, sides: int) -> None:
    everything = list(combinations(range(entrants), sides))
    assert len(everything) <= ALL_COMBINATIONS_UP_TO
    assert sorted(p.entrants for p in round_robin(entrants, sides)) == everything
    twice = sorted(p.entrants for p in round_robin(entrants, sides, cycles=2))
    assert twice == sorted(everything * 2)


def test_tables_that_fit_side_by_side_share_a_round() -> None:
    pairings = round_robin(6, 3)
    assert pairings[-1].round + 1 == 10
    assert pairings[:2] == (Pairing(0, (0, 1, 2)), Pairing(0, (3, 4, 5)))


@pytest.mark.parametrize("sides", [3, 4, 5, 6])
@pytest.mark.parametrize(
    "entrants",
    [
        pytest.param(n, marks=[] if n % 6 == 5 else [pytest.mark.long, pytest.mark.repetition])
        for n in range(11, 41)
    ],
)
def test_a_selection_balances_plays_and_meetings_within_one(entrants: int, sides: int) -> None:
    pairings = round_robin(entrants, sides)
    assert spread(plays(pairings, entrants)) == 0
    assert spread(meetings(pairings, entrants)) <= 1
    assert min(meetings(pairings, entrants)) >= 1
    # The tournament is never longer than with tables of two.
    assert len(pairings) <= max(ALL_COMBINATIONS_UP_TO, comb(entrants, 2))


@given(entrants=st.integers(11, 80), sides=st.integers(3, 6), cycles=st.integers(1, 3))
@settings(deadline=None, max_examples=examples(30))
def test_plays_and_meetings_are_within_one_after_every_cycle(
    entrants: int, sides: int, cycles: int
) -> None:
    pairings = round_robin(entrants, sides, cycles)
    assert spread(plays(pairings, entrants)) == 0
    assert spread(meetings(pairings, entrants)) <= 1
    assert min(meetings(pairings, entrants)) >= cycles
    shorter = round_robin(entrants, sides, 1)
    assert pairings[: len(shorter)] == shorter


@pytest.mark.long
@given(st.integers(7, 12).flatmap(lambda n: st.tuples(st.integers(n, 60), st.just(n))))
@settings(deadline=None, max_examples=4)
def test_tables_larger_than_any_game_are_balanced(
    sizes: tuple[int, int],
) -> None:
    entrants, sides = sizes
    pairings = round_robin(entrants, sides)
    assert spread(plays(pairings, entrants)) <= 1
    assert spread(meetings(pairings, entrants)) <= 1


def test_eleven_at_tables_of_five_play_the_eleven_tables_where_all_meet_twice() -> None:
    pairings = round_robin(11, 5)
    assert len(pairings) == 11
    assert set(plays(pairings, 11)) == {5}
    assert set(meetings(pairings, 11)) == {2}


def test_tables_for_more_than_half_of_the_entrants_are_balanced_too() -> None:
    pairings = round_robin(12, 7)
    assert comb(12, 7) > ALL_COMBINATIONS_UP_TO
    assert spread(plays(pairings, 12)) == 0
    assert spread(meetings(pairings, 12)) <= 1


@pytest.mark.long
def test_without_a_selection_a_round_of_disjoint_tables_is_balanced() -> None:
    pairings = round_robin(43, 7)
    assert {pairing.round for pairing in pairings} == {0}
    assert len(pairings) == 6
    assert set(meetings(pairings, 43)) == {0, 1}


@pytest.mark.long
def test_cycles_that_cannot_be_balanced_are_refused() -> None:
    with pytest.raises(ValueError, check=has_code("not-balanced")):
        round_robin(43, 7, cycles=2)


@pytest.mark.parametrize(("entrants", "sides"), [(9, 2), (9, 3), (16, 4)])
def test_pairings_are_deterministic(entrants: int, sides: int) -> None:
    assert round_robin(entrants, sides, 2) == round_robin(entrants, sides, 2)


def test_fewer_entrants_than_sides_are_refused() -> None:
    with pytest.raises(ValueError, check=has_code("too-few-entrants")):
        round_robin(2, 3)


def test_a_game_for_one_side_has_no_round_robin() -> None:
    with pytest.raises(ValueError, check=has_code("sides")):
        round_robin(5, 1)


def test_zero_cycles_are_refused() -> None:
    with pytest.raises(ValueError, check=has_code("cycles")):
        round_robin(5, 2, 0)

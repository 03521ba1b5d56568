"""Test the rules of the sequential test (SPRT)."""

import random
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import FormatMatch, FormatOver, MatchStatus, NextMatches
from arena.formats.sprt_match import SprtFormat, board_counts, pair_counts
from arena.ratings.duel import of_boards
from arena.ratings.sprt import Model, SprtSettings, log_likelihood_ratio
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone, game
from tests.errors import has_code
from tests.examples import examples


class PairsAhead(SprtFormat):
    """A test by the number of pairs above one half minus those below."""

    __slots__ = ()

    def ratio(self, counts: tuple[int, ...]) -> float:
        return float(counts[3] + counts[4] - counts[0] - counts[1])


PAIR = ("aa@1", "ab@1")
PLACES = {"W": (1, 2), "D": (1, 1), "L": (2, 1)}


def match(number: int, there: str, back: str) -> FormatMatch:
    """Return a match with one board per letter; `back` has the results with seats exchanged."""
    games = tuple(game(place, PLACES[word]) for place, word in enumerate(there + back))
    return FormatMatch(number // 4, number % 4, ("aa@1", "ab@1"), MatchStatus.CLOSED, games)


@pytest.mark.parametrize(("there", "back"), list(product("LDW", repeat=2)))
def test_a_board_in_both_seatings_has_one_of_six_outcomes(there: str, back: str) -> None:
    kinds = ["LL", "DL", "LW", "DD", "DW", "WW"]
    counts = pair_counts(match(0, there, back).games)
    assert counts.index(1) == kinds.index("".join(sorted(there + back)))
    assert sum(counts) == 1


def test_boards_are_paired_with_themselves() -> None:
    assert pair_counts(match(0, "WLD", "WLD").games) == (1, 0, 0, 1, 0, 1)
    assert pair_counts(match(0, "WLD", "LDW").games) == (0, 1, 1, 0, 1, 0)


def test_the_first_match_that_crosses_a_bound_decides() -> None:
    test = PairsAhead()
    up = [match(number, "W", "W") for number in range(3)]
    assert test.verdict(up[:2], PAIR) is None
    decision = test.verdict(up, PAIR)
    assert decision is not None
    assert (decision.better, decision.place, decision.ratio) == (True, (0, 2), 3.0)


def test_a_verdict_is_final_and_later_matches_are_marked() -> None:
    lost = [match(number, "LLLL", "LLLL") for number in range(3, 6)]
    matches = [match(number, "W", "W") for number in range(3)] + lost
    matches.append(FormatMatch(1, 2, ("aa@1", "ab@1")))
    end = PairsAhead().next(everyone(2), matches)
    assert isinstance(end, FormatOver)
    assert end.ranking == (("aa@1",), ("ab@1",))
    assert end.drained == ((0, 3), (1, 0), (1, 1), (1, 2))
    assert end.why == "aa@1 is better: the ratio is 3.00"


def test_a_match_does_not_count_before_all_earlier_ones_are_over() -> None:
    late = [match(number, "WW", "WW") for number in (1, 2, 3)]
    pending = FormatMatch(0, 0, ("aa@1", "ab@1"))
    test = PairsAhead()
    assert test.verdict([pending, *late], PAIR) is None
    decision = test.verdict([match(0, "L", "L"), *late], PAIR)
    assert decision is not None
    assert decision.place == (0, 2)
    voided = FormatMatch(0, 0, ("aa@1", "ab@1"), MatchStatus.VOID)
    decision = test.verdict([voided, *late], PAIR)
    assert decision is not None
    assert decision.place == (0, 2)


@given(seed=st.integers(0, 2**32), gap=st.floats(-1, 1))
@settings(max_examples=examples(30))
def test_later_matches_do_not_revoke_a_verdict(seed: int, gap: float) -> None:
    strength = {"aa@1": gap, "ab@1": 0.0}
    playing = SimulatedTournament(
        PairsAhead(), everyone(2), seed, random.Random(seed), strength.__getitem__
    )
    end = playing.play(400)
    if end is None:
        return
    assert {m.place for m in playing.matches if m.state is MatchStatus.OPEN} <= set(end.drained)
    playing.finish()
    for number in range(20):
        playing.matches.append(match(4 * 200 + number, "WL"[number % 2], "WL"[number % 2]))
    after = playing.ask()
    assert isinstance(after, FormatOver)
    assert (after.why, after.ranking) == (end.why, end.ranking)


def test_not_better_is_a_verdict_too() -> None:
    end = PairsAhead().next(everyone(2), [match(n, "L", "L") for n in range(3)])
    assert isinstance(end, FormatOver)
    assert end.ranking == (("ab@1",), ("aa@1",))
    assert end.why.startswith("aa@1 is not better")


def test_an_undecided_test_ends_at_its_limit_or_with_a_withdrawal() -> None:
    playing = SimulatedTournament(PairsAhead(limit=6), everyone(2), games=2, void=1)
    assert playing.play() == FormatOver("no verdict: 6 matches are played")
    playing = SimulatedTournament(PairsAhead(), everyone(2), void=1)
    playing.ask()
    playing.withdraw(1)
    playing.finish()
    assert playing.ask() == FormatOver("no verdict: an entrant has withdrawn")


def test_at_most_two_rounds_are_in_flight() -> None:
    playing = SimulatedTournament(PairsAhead(batch=3), everyone(2))
    assert isinstance(playing.ask(), NextMatches)
    assert isinstance(playing.ask(), NextMatches)
    assert playing.ask() is None


def test_a_test_is_between_two() -> None:
    with pytest.raises(ValueError, check=has_code("entrant-count")):
        PairsAhead().next(everyone(3), ())


def test_the_ratio_follows_from_the_bounds_and_the_model() -> None:
    counts = (0, 3, 10, 12, 0)
    for model in get_args(Model):
        expected = log_likelihood_ratio(SprtSettings(0, 10, model=model), of_boards(counts))
        assert SprtFormat(high=10, model=model).ratio(counts) == expected
    with pytest.raises(ValueError, check=has_code("model")):
        SprtFormat(model="bayesian")


def test_larger_tables_seat_the_two_at_every_distance_with_others_in_turn() -> None:
    step = PairsAhead(sides=4, batch=12).next(everyone(6), ())
    assert isinstance(step, NextMatches)
    tables = [fixture.entrants for fixture in step.fixtures]
    assert all(table[0] == "aa@1" and len(set(table)) == 4 for table in tables)
    distances = [table.index("ab@1") for table in tables]
    assert distances == [1, 2, 3] * 4
    others = [name for table in tables for name in table if name not in PAIR]
    assert {others.count(entrant.name) for entrant in everyone(6)[2:]} == {6}


def test_at_larger_tables_only_the_places_of_the_two_count() -> None:
    places = [(1, 2, 3), (3, 1, 2), (2, 2, 1)]
    games = tuple(game(number, at) for number, at in enumerate(places))
    played = FormatMatch(0, 0, ("aa@1", "ac@1", "ab@1"), MatchStatus.CLOSED, games)
    # Half points of aa against ab: 2, 0 and 0.
    assert board_counts(played.entrants, played.games, PAIR) == (0, 0, 1, 0, 0, 0, 0)


def test_entrants_of_one_owner_share_larger_tables_only_if_allowed() -> None:
    family = everyone(3, ("ann", "ann"))
    with pytest.raises(ValueError, check=has_code("too-few-owners")):
        PairsAhead(sides=3).next(family, ())
    allowed = PairsAhead(sides=3, owners_meet=True)
    assert isinstance(allowed.next(family, ()), NextMatches)

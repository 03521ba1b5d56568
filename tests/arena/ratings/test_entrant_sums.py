"""The sums of a match by entrant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings import closed_match
from arena.ratings.closed_match import VERDICTS, ClosedMatch, PlayedGame, pairwise
from arena.ratings.entrant_sums import of_match

CLIP = 20


@st.composite
def matches(draw: st.DrawFn) -> ClosedMatch:
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True))
    places = st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names))
    scores = st.none() | st.lists(st.integers(-99, 99), min_size=len(names), max_size=len(names))
    word = st.lists(st.sampled_from(sorted(VERDICTS)), min_size=len(names), max_size=len(names))
    games = draw(st.lists(st.tuples(places, scores, word), min_size=1, max_size=4))
    return ClosedMatch(
        "m-1",
        2,
        3,
        tuple(names),
        tuple(
            PlayedGame(n, tuple(p), None if s is None else tuple(s), tuple(v), (0,) * len(p))
            for n, (p, s, v) in enumerate(games)
        ),
        4,
    )


@given(matches())
def test_the_sums_of_a_match_have_its_mean_scores(match: ClosedMatch) -> None:
    sums = of_match(match, CLIP)
    means = closed_match.means(pairwise(match))
    for name, mean in zip(match.entrants, means, strict=True):
        assert sums[name].mean == pytest.approx(mean, abs=1e-6)


def test_wins_draws_points_and_verdicts_are_counted_by_entrant() -> None:
    games = (
        PlayedGame(0, (1, 2), (5, 3), ("finished", "finished"), (0, 0)),
        PlayedGame(1, (1, 1), (30, -10), ("finished", "finished"), (0, 0)),
        PlayedGame(2, (2, 1), None, ("timeout", "finished"), (1, 0)),
        PlayedGame(3, (2, 1), None, ("forfeit", "finished"), (0, 0)),
    )
    first, second = of_match(ClosedMatch("m", 0, 0, ("a", "b"), games), CLIP).values()
    assert (first.wins, first.draws, first.points) == (1, 1, 35)
    assert (second.wins, second.draws, second.points) == (2, 1, -7)
    # Of 8 half points; two games have scores, and the margin of 40 was clipped to 20.
    assert (first.shares, second.shares) == ({8: 3}, {8: 5})
    assert first.margins == {2: (1, 22, 22**2, 1)}
    assert second.margins == {2: (1, -22, 22**2, 1)}
    assert (first.verdicts, second.verdicts) == ({"timeout": 1, "forfeit": 1}, {})

"""Test the digests of matches."""

from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.closed_match import VERDICTS, ClosedMatch, PlayedGame, pairwise
from arena.ratings.match_digest import digest
from arena.ratings.meetings import Meetings
from arena.ratings.points import PointSums

CLIP = 20


@st.composite
def matches(draw: st.DrawFn) -> ClosedMatch:
    """Draw a match of two to four entrants."""
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
def test_a_digest_gives_the_strength_and_points_of_its_match(match: ClosedMatch) -> None:
    summary = digest(match, CLIP)
    assert pairwise(summary) == pairwise(match)
    assert Meetings.of([summary]) == Meetings.of([match])
    clipped = dict(zip(match.entrants, summary.margins.clipped, strict=True))
    points = PointSums.of([match], CLIP).points()
    assert {line.entrant: line.clipped for line in points} == (
        clipped if summary.margins.scored else {}
    )


def test_wins_draws_points_and_verdicts_are_counted_by_entrant() -> None:
    games = (
        PlayedGame(0, (1, 2), (5, 3), ("finished", "finished"), (0, 0)),
        PlayedGame(1, (1, 1), (30, -10), ("finished", "finished"), (0, 0)),
        PlayedGame(2, (2, 1), None, ("timeout", "finished"), (1, 0)),
        PlayedGame(3, (2, 1), None, ("forfeit", "finished"), (0, 0)),
    )
    summary = digest(ClosedMatch("m", 0, 0, ("a", "b"), games), CLIP)
    assert (summary.wins, summary.draws, summary.points) == ((1, 2), (1, 1), (35, -7))
    assert summary.halves == (3,)
    assert (summary.margins.scored, summary.margins.sums, summary.margins.clipped) == (
        2,
        (22, -22),
        (1, 1),
    )
    assert summary.verdicts == ({"timeout": 1, "forfeit": 1}, {})

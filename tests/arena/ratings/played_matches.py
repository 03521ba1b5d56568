"""Closed matches with given or random places."""

from collections.abc import Sequence
from itertools import chain

from hypothesis import strategies as st

from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.meetings import Meetings


def match(
    number: int, entrants: Sequence[str], *places: tuple[int, ...], in_round: int = 0
) -> ClosedMatch:
    """Return a match with the places of all entrants in each game."""
    games = tuple(
        PlayedGame(game, order, None, ("finished",) * len(order), (0,) * len(order))
        for game, order in enumerate(places)
    )
    return ClosedMatch(f"m-{in_round}-{number}", in_round, number, tuple(entrants), games)


def together(*tables: Meetings) -> Meetings:
    """Return the table of the matches of several tables."""
    return Meetings.of_line_ups(chain.from_iterable(table.sums.items() for table in tables))


def places_of(scores: Sequence[float]) -> tuple[int, ...]:
    """Return the places of scores, of which the highest wins."""
    return tuple(1 + sum(other > mine for other in scores) for mine in scores)


@st.composite
def matches_of_few_line_ups(draw: st.DrawFn, most: int = 14) -> list[ClosedMatch]:
    """Draw matches of one or two games between two to four of six entrants; line-ups repeat."""
    line_up = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True)
    line_ups = draw(st.lists(line_up, min_size=1, max_size=4))
    matches = []
    for number in range(draw(st.integers(0, most))):
        entrants = draw(st.permutations(draw(st.sampled_from(line_ups))))
        places = st.tuples(*[st.integers(1, 3)] * len(entrants))
        matches.append(match(number, entrants, *draw(st.lists(places, min_size=1, max_size=2))))
    return matches


@st.composite
def tournaments(draw: st.DrawFn, rounds: int = 0) -> list[ClosedMatch]:
    """Draw matches of two to four of six entrants, with random results and numbers of games."""
    matches = []
    for number in range(draw(st.integers(1, 12))):
        entrants = draw(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True))
        score = st.lists(st.integers(0, 3), min_size=len(entrants), max_size=len(entrants))
        places = map(places_of, draw(st.lists(score, min_size=1, max_size=4)))
        matches.append(match(number, entrants, *places, in_round=draw(st.integers(0, rounds))))
    return matches

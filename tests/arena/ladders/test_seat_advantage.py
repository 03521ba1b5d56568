"""Test what seats are worth: constructed matches, and the coverage of the intervals."""

import random

import pytest

from arena.formats.round_robin import seatings
from arena.ladders.seat_advantage import advantages
from arena.ratings.closed_match import ClosedMatch, PlayedGame


def match(
    number: int, scores_by_seat: list[tuple[int, ...]], verdict: str = "finished"
) -> ClosedMatch:
    sides = len(scores_by_seat)
    games = []
    for game, (seating, by_seat) in enumerate(zip(seatings(sides), scores_by_seat, strict=True)):
        scores = tuple(by_seat[seating.index(entrant)] for entrant in range(sides))
        places = tuple(1 + sum(other > mine for other in scores) for mine in scores)
        games.append(PlayedGame(game, places, scores, (verdict,) * sides, (0,) * sides))
    return ClosedMatch(f"m-{number}", 0, number, tuple("abcd"[:sides]), tuple(games))


def test_a_seat_that_wins_whoever_plays_there_is_worth_its_margin() -> None:
    first, second = advantages([match(number, [(7, 3), (7, 3)]) for number in range(3)], (0, 1))
    assert (first.seats, first.matches) == ((0,), 3)
    assert (first.score.mean, first.score.low, first.score.high) == (1, 1, 1)
    assert (first.points.mean, second.points.mean) == (4, -4)
    assert first.elo is None


def test_a_stronger_bot_gives_no_seat_an_advantage() -> None:
    worths = advantages([match(number, [(7, 3), (3, 7)]) for number in range(3)], (0, 1))
    assert [worth.score.mean for worth in worths] == [0.5, 0.5]
    assert [worth.points.mean for worth in worths] == [0, 0]
    assert [worth.elo and worth.elo.mean for worth in worths] == [0, 0]


def test_three_seats_are_compared_with_the_mean_of_the_others() -> None:
    worths = advantages([match(number, [(9, 3, 0)] * 3) for number in range(2)], (0, 1, 2))
    assert [worth.score.mean for worth in worths] == [1, 0.5, 0]
    assert [worth.points.mean for worth in worths] == [7.5, -1.5, -6]


def test_seats_of_one_side_count_together() -> None:
    worths = advantages([match(0, [(7, 3), (7, 3)])], (0, 1, 0, 1))
    assert [worth.seats for worth in worths] == [(0, 2), (1, 3)]
    assert worths[0].score.low is None


def test_matches_with_faults_or_without_all_seatings_are_omitted() -> None:
    faulty = match(0, [(7, 3), (7, 3)], verdict="timeout")
    whole = match(1, [(7, 3), (7, 3)])
    half = ClosedMatch("m-2", 0, 2, whole.entrants, whole.games[:1])
    assert advantages([faulty, half], (0, 1)) == ()
    assert advantages([faulty, half, whole], (0, 1))[0].matches == 1


@pytest.mark.long
def test_intervals_cover_95_percent() -> None:
    dice, held = random.Random(4), 0
    for _ in range(800):
        matches = []
        for number in range(40):
            stronger = dice.gauss(0, 1)
            luck = dice.gauss(0, 1)
            margins = [0.5 + stronger * side + luck + dice.gauss(0, 1) for side in (1, -1)]
            matches.append(match(number, [(round(100 * margin), 0) for margin in margins]))
        (first, _) = advantages(matches, (0, 1))
        assert first.points.low is not None
        assert first.points.high is not None
        held += first.points.low <= 50 <= first.points.high
    assert 0.93 * 800 <= held <= 0.97 * 800

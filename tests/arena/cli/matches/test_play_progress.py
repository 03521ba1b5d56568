"""The progress that `play` shows while a match is played."""

import math
from pathlib import Path
from queue import Queue

import pytest

from arena.cli.matches import match_request, play_progress
from arena.cli.matches.play_progress import MatchProgress
from arena.cli.workspace import Workspace
from arena.ratings.duel import elo_difference, trinomial
from arena.store.match_settings import Clock, MatchSettings


def test_progress_has_the_score_the_elo_difference_and_the_remaining_time() -> None:
    places = [(1, 2)] * 6 + [(2, 1)] * 3 + [(1, 1)]
    progress = MatchProgress(("ace", "bee"), 40, places, 5.0)
    assert progress.scores == (6.5, 3.5)
    assert progress.elo == elo_difference(trinomial(wins=6, losses=3, draws=1))
    assert progress.seconds_left == 15.0


def test_at_a_table_of_three_the_score_is_the_mean_over_the_opponents() -> None:
    progress = MatchProgress(("ace", "bee", "cow"), 3, [(1, 2, 3), (2, 2, 1)], 1.0)
    assert progress.scores == (1.25, 0.75, 1.0)
    assert progress.elo is not None
    assert progress.elo.value > 0


def test_before_the_first_game_nothing_is_estimated() -> None:
    progress = MatchProgress(("ace", "bee"), 4, [], 30.0)
    assert progress.scores == (0.0, 0.0)
    assert progress.elo is None
    assert progress.seconds_left is None
    assert progress.text


@pytest.mark.parametrize("places", [[(1, 2)], [(2, 1)] * 3, [(1, 2), (2, 1)]])
def test_an_undetermined_difference_has_a_text(places: list[tuple[int, int]]) -> None:
    progress = MatchProgress(("ace", "bee"), 4, places, 1.0)
    assert progress.elo is not None
    assert "inf" not in progress.text
    assert "nan" not in progress.text
    assert ("Elo" in progress.text) == (math.isfinite(progress.elo.value) and len(places) == 2)


def test_progress_is_repeated_while_no_game_ends(cwd: Path) -> None:
    settings = MatchSettings(game="poke", boards=2, clock=Clock(10_000, 100, 1000), faults="strict")
    match = match_request.prepare(Workspace(), settings, ("sample:meek", "sample:meek"), "1")
    lines = Queue[str]()
    with play_progress.repeated(match, lines.put, 0.01):
        assert lines.get(timeout=60) == lines.get(timeout=60)

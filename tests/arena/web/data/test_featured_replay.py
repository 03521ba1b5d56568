"""The replay on the home page when no match is being played."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from arena.ratings.closed_match import FINISHED, PlayedGame
from arena.store.matches import listing, results
from arena.store.matches.closed_matches import PlayedMatch
from arena.web.data.featured_replay import featured_replay, select
from tests.arena.records.bundle.simulated_arena import SimulatedArena


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path)
    yield made
    made.engine.dispose()


def result(name: str, *scores: Sequence[int], faulted: bool = False) -> PlayedMatch:
    """Return the result of a match of Poke; with `faulted` its last game ended with a fault."""
    games = []
    for number, points in enumerate(scores):
        is_faulted = faulted and number == len(scores) - 1
        games.append(
            PlayedGame(
                number,
                tuple(1 + sum(other > score for other in points) for score in points),
                tuple(points),
                (FINISHED, "timeout" if is_faulted else FINISHED),
                (0, int(is_faulted)),
            )
        )
    return PlayedMatch(
        match=name,
        tournament="t-1",
        name="tournament",
        game="poke",
        seats=2,
        options={"must_beat": True},
        round=0,
        number=0,
        closed=1.0,
        entrants=("a@1", "b@1"),
        games=tuple(games),
    )


def test_the_closest_match_is_featured() -> None:
    clear, close = result("m-clear", (400, 0), (300, 0)), result("m-close", (100, 0), (90, 0))
    featured = select([clear, close])
    assert featured is not None
    assert (featured.match, featured.swings) == ("m-close", 0)
    assert featured == select([close, clear])


def test_swings_count_more_than_a_small_difference() -> None:
    quiet = result("m-quiet", (20, 0), (20, 0), (20, 0), (20, 0))
    swinging = result("m-swinging", (50, 0), (0, 60), (0, 60), (60, 0), (50, 0))
    featured = select([quiet, swinging])
    assert featured is not None
    assert (featured.match, featured.swings) == ("m-swinging", 2)
    # The last game that changed the lead.
    assert featured.game == 4


def test_without_a_swing_the_closest_game_is_shown_and_no_game_with_a_fault() -> None:
    featured = select([result("m-1", (50, 0), (30, 20), (5, 4), faulted=True)])
    assert featured is not None
    assert featured.game == 1
    assert select([result("m-1", (5, 4), faulted=True)]) is None
    assert select([]) is None


def test_the_choice_is_read_from_the_latest_results(simulated_arena: SimulatedArena) -> None:
    assert featured_replay(simulated_arena.engine) is None
    simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(3), boards=2)
    )
    featured = featured_replay(simulated_arena.engine)
    assert featured is not None
    assert featured.match in {match.id for match in listing.latest(simulated_arena.engine, 3)}
    assert featured == featured_replay(simulated_arena.engine)
    assert results.latest_closed(simulated_arena.engine, 10, most_games=3) == ()

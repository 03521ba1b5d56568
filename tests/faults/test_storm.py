"""Kill random processes during 1,000 short matches, and during one reproducible tournament."""

import os

import pytest

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.standings import of_matches
from arena.store.matches import results
from arena.store.tournaments import tournaments
from referee.presentation.registry import presentation_of
from tests.faults import processes
from tests.faults.checker import RESUME_SECONDS
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena
from tests.faults.storm import Storm
from tests.faults.witness import Witness

ALONE = 300
"""Number of matches of the storm of scripts/release-check, beside which nothing runs."""
MATCHES = int(os.environ.get("POKEARENA_STORM", "1000"))
BOTS = ("random", "greedy", "meek", "bold")
PAIRS = 6

pytestmark = [pytest.mark.long]


@pytest.mark.timeout(3600)
def test_in_a_storm_over_a_thousand_matches_nothing_is_lost_and_nothing_doubled(
    arena: Arena, conclude: Conclude
) -> None:
    cycles = -(-MATCHES // PAIRS)
    arena.schedule([arena.house(name) for name in BOTS], cycles=cycles)
    weights = {"worker": 1, "horse": 4, "referee": 0.5, "keeper": 1, "guard": 1, "bot": 8}
    with (
        Witness(arena) as witness,
        arena.serving(2) as serve,
        Storm(arena, witness, weights, every=4) as storm,
    ):
        serve.until(arena.over, 3500)
    tally = conclude(arena, witness, f"storm: {_words(storm)}")
    assert tally.matches >= MATCHES
    # Killed processes do not count towards a void match; the death of a bot only loses a game.
    assert tally.void == 0
    # With fewer matches, other tests use the machine as well.
    if MATCHES >= ALONE:
        assert tally.p95 is not None
        assert tally.p95 < RESUME_SECONDS


def _words(storm: Storm) -> str:
    return ", ".join(f"{number} {role}" for role, number in sorted(storm.hits.items()))


@pytest.mark.timeout(600)
def test_an_interrupted_tournament_ends_as_an_uninterrupted_one(conclude: Conclude) -> None:
    outcomes = []
    for interrupted in (False, True):
        with processes.orphanage():
            arena = Arena()
            arena.schedule([arena.house(name) for name in BOTS], cycles=2)
            with Witness(arena) as witness, arena.serving(2) as serve:
                # Bots are not killed here, because the death of a bot is its own fault.
                weights = {"worker": 2, "horse": 2, "referee": 1, "keeper": 1, "redis": 1}
                storm = Storm(arena, witness, {**weights, "serve": 1}, every=2, spare=2)
                if interrupted:
                    with storm:
                        serve.until(arena.over)
                    assert sum(storm.hits.values()) >= 5
                serve.until(arena.over)
            tally = conclude(arena, witness, "interrupted" if interrupted else "uninterrupted")
            assert tally.closed == tally.matches
            outcomes.append(_outcome(arena))
        arena.remove()
    assert outcomes[0] == outcomes[1]


def _outcome(arena: Arena) -> tuple[object, ...]:
    """Return every result in the order of the schedule, the table with Elo, and the strengths."""
    closed: list[ClosedMatch] = list(results.closed(arena.engine))
    places = [(match.round, match.number, match.entrants, match.games) for match in closed]
    [tournament] = tournaments.list_tournaments(arena.engine)
    fitted = of_matches(closed, presentation_of(tournament.plan.game).clip)
    return places, fitted.table, fitted.strengths

"""Kill a process of the arena every 2.5 s: short games finish, long games become void."""

import os
import time
from collections.abc import Iterator, Sequence

import pytest

from arena.store.matches import listing, results
from arena.store.schema import MatchState
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena
from tests.faults.storm import Storm
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

MATCHES = int(os.environ.get("POKEARENA_STORM", "30"))
"""Number of matches; 150 before a release."""
BOTS = ("random", "greedy", "meek", "bold")
PAIRS = 6
SECONDS = 2.5
"""Seconds between two kills. A short game takes a tenth of that, a long one four times as much."""
ROLES = {"worker": 1, "horse": 1, "referee": 1, "keeper": 1}
SPARE = 2 if MATCHES < 150 else 99
"""Number of failures without a committed game that postpones a kill.

With other tests in parallel, an attempt may need longer for its first game than the time between
two kills. A third failure makes the match void. The release check runs alone and postpones no kill.
"""
NAP = 0.7
DECISIONS = 16

Outcomes = Sequence[object]


def schedule(arena: Arena) -> None:
    arena.schedule([arena.house(name) for name in BOTS], cycles=-(-MATCHES // PAIRS))


def outcomes(arena: Arena) -> Outcomes:
    """Return every result, in the order of the schedule."""
    closed = [(m.round, m.number, m.entrants, m.games) for m in results.closed(arena.engine)]
    return sorted(closed, key=lambda result: result[:2])


@pytest.fixture(scope="module")
def undisturbed_outcomes() -> Outcomes:
    with processes.orphanage():
        arena = Arena()
        schedule(arena)
        with arena.serving(2) as serve:
            serve.until(arena.over, 1200)
    results_row = outcomes(arena)
    arena.remove()
    return results_row


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def stored(request: pytest.FixtureRequest) -> Iterator[tuple[str, Arena]]:
    """Return the name of a database, and an arena with an empty store in it."""
    if request.param == "SQLite":
        with processes.orphanage():
            arena = Arena()
            yield request.param, arena
        arena.remove()
        return
    server = request.getfixturevalue("server")
    with server.database() as url, processes.orphanage(lambda: [server.pid]):
        arena = Arena(url=url)
        yield request.param, arena
        arena.remove()


# CI plays an interrupted tournament in test_storm.py.
@pytest.mark.repetition
def test_short_games_end_as_without_kills(
    undisturbed_outcomes: Outcomes, stored: tuple[str, Arena], conclude: Conclude
) -> None:
    database, arena = stored
    schedule(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        began = time.monotonic()
        with Storm(arena, witness, ROLES, seconds=SECONDS, spare=SPARE) as storm:
            serve.until(arena.over, 1700)
        took = time.monotonic() - began
    [(charged,)] = arena.sql("SELECT count(*) FROM faults")
    hits = ", ".join(f"{number} {role}" for role, number in sorted(storm.hits.items()))
    kills = f"{sum(storm.hits.values())} kills ({hits}), {storm.postponed} of them late"
    failures = arena.sql("SELECT count(*), max(failures) FROM matches WHERE failures > 0")
    print(f"{database}: {took:.0f} s, {kills}, {charged} charged, failures {failures}")
    tally = conclude(arena, witness, f"SIGKILL every {SECONDS:g} s, {database}")
    assert sum(storm.hits.values()) > 0
    assert (tally.void, tally.doubled, charged) == (0, 0, 0)
    assert tally.closed == tally.matches >= MATCHES
    assert outcomes(arena) == undisturbed_outcomes


def test_a_game_longer_than_the_time_between_kills_is_played_after_them(
    arena: Arena, conclude: Conclude
) -> None:
    assert NAP * DECISIONS > 4 * SECONDS
    names = ("first", "last")
    entrants = [arena.slow(name, NAP, -n) for n, name in enumerate(names)]
    with Witness(arena) as witness, arena.serving(1) as serve:
        long = arena.schedule(entrants)
        with Storm(arena, witness, ROLES, seconds=SECONDS):
            serve.until(lambda: arena.sql("SELECT 1 FROM matches WHERE failures > 3") != [])
        [match] = listing.matches(arena.engine, tournament=long.id)
        # Killed processes do not count towards a void match.
        assert match.state is not MatchState.VOID
        arena.pace(0, *names)
        serve.until(arena.over)
    [match] = listing.matches(arena.engine, tournament=long.id)
    assert match.state is MatchState.CLOSED
    assert arena.sql("SELECT sentence FROM faults") == []
    conclude(arena, witness, f"SIGKILL every {SECONDS:g} s, long games")

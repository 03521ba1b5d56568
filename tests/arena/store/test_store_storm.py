"""Many workers play the same few matches, with random failures."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, func, select

from arena.errors import Conflict, LeaseLost
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.matches import listing, results, transitions
from arena.store.matches.transitions import FAILURES_TO_VOID, ArenaFault
from arena.store.schema import OPEN, MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments.scheduler import Scheduler
from tests.arena.store.played_matches import commit

Schedule = Callable[..., Tournament]
Lapse = Callable[[str], None]

WORKERS = 4
CANCELLED_AFTER = 3


@pytest.mark.parametrize("cancelled", [False, True])
def test_in_a_storm_every_match_ends_once_and_no_game_is_doubled(
    store: Engine, schedule: Schedule, lapse: Lapse, cancelled: bool
) -> None:
    tournament = schedule(6, boards=2)
    names = [match.id for match in listing.matches(store)]

    def work(worker: int) -> None:
        luck = random.Random(worker)
        while any(match.state in OPEN for match in listing.matches(store)):
            # Jobs may be duplicate or late, so any match is tried.
            lease = transitions.lease(store, luck.choice(names), f"worker-{worker}")
            if cancelled and len(list(results.closed(store))) >= CANCELLED_AFTER:
                cancel(store, tournament.id)
            if lease is None:
                continue
            try:
                for number in luck.sample(range(lease.spec.games), luck.randint(1, 4)):
                    if number not in [game.game for game in lease.committed]:
                        commit(store, lease, number)
                    if luck.random() < 0.05:
                        lapse(lease.match)
                transitions.renew(store, lease)
                fault = ArenaFault("It broke.", f"machine-{worker}", counts=luck.random() < 0.3)
                transitions.release(store, lease, fault if luck.random() < 0.05 else None)
            except LeaseLost:
                continue

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    check(store, tournament.id, cancelled)


def cancel(store: Engine, tournament: str) -> None:
    try:
        lifecycle.cancel(store, tournament)
    except Conflict:
        assert tournaments.find_tournament(store, tournament).state is TournamentState.CANCELLED


def check(store: Engine, tournament: str, cancelled: bool) -> None:
    matches = listing.matches(store)
    closed = [match.id for match in matches if match.state is MatchState.CLOSED]
    assert [match.id for match in results.closed(store)] == closed
    for match in matches:
        assert (match.state is MatchState.CLOSED) == (match.committed == match.games)
        if match.state is MatchState.VOID and match.failures < FAILURES_TO_VOID:
            # The quarantine of a version also cancels its matches.
            quarantined = [versions.find_version(store, bot).quarantined for bot in match.entrants]
            assert "quarantine" in (match.reason or "")
            assert any(quarantined)
        assert match.state is not MatchState.CANCELLED or cancelled
    assert Scheduler(store).advance() == 0
    over = TournamentState.CANCELLED if cancelled else TournamentState.CLOSED
    assert tournaments.find_tournament(store, tournament).state is over
    with database.reading(store) as connection:
        count = select(func.count()).select_from(schema.results)
        assert connection.execute(count).scalar_one() == len(closed)

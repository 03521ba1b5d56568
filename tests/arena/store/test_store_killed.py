"""A process is killed during its commits."""

import subprocess
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, func, select

from arena.store import database, schema
from arena.store.matches import listing, results, transitions
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament
from referee import record
from tests.arena.store.played_matches import commit

Schedule = Callable[..., Tournament]
Lapse = Callable[[str], None]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.mark.long
def test_a_killed_process_loses_no_committed_game(
    store: Engine, schedule: Schedule, lapse: Lapse, contend: Start
) -> None:
    schedule(boards=100)
    (match,) = transitions.due(store)
    announced: set[int] = set()
    for kills in range(2):
        process = contend("commit", match)
        assert process.stdout is not None
        for _ in range(3):
            announced.add(int(process.stdout.readline()))
        # The games are large, so that the kill happens during a commit.
        process.kill()
        output, errors = process.communicate()
        announced.update(map(int, output.split()))
        assert (process.returncode, errors) == (-9, "")
        assert listing.find_match(store, match).attempt == kills + 1
        check_games(store, match, announced)
        lapse(match)
    survivor = transitions.lease(store, match, "survivor")
    assert survivor is not None
    done = {game.game for game in survivor.committed}
    for number in range(survivor.spec.games):
        if number not in done:
            commit(store, survivor, number)
    assert listing.find_match(store, match).state is MatchState.CLOSED
    read = record.read(results.record(store, match))
    assert [game.number for game in read.games] == list(range(200))


def check_games(store: Engine, match: str, announced: set[int]) -> None:
    games, faults = schema.games, schema.faults
    query = select(games.c.game, games.c.record).where(games.c.match == match)
    with database.reading(store) as connection:
        rows = connection.execute(query.order_by(games.c.game)).all()
        counted = connection.execute(select(func.count()).select_from(faults)).scalar_one()
    stored = {row.game for row in rows}
    assert announced <= stored
    assert stored == set(range(len(stored)))
    for row in rows:
        (game,) = record.read_games(row.record)
        assert game.number == row.game
    # Every second game has a fault.
    assert counted == len(stored) // 2

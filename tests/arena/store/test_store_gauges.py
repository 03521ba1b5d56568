"""The numbers of open matches by what they wait for, and the age of the last backup."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from arena.errors import Conflict
from arena.services import metric_definitions as metrics
from arena.services.store_gauges import STATES, read_gauges
from arena.store import backup_file, database, schema
from arena.store.bots import remote_bots, versions
from arena.store.matches import match_leases
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.pushed_version import add_pushed_version

Schedule = Callable[..., Tournament]


def open_matches(store: Engine, pushed: bool = True) -> dict[str, int]:
    """Return the numbers of open matches by state, without zeros."""
    counted = read_gauges(store, pushed=pushed)[metrics.OPEN]
    assert tuple(state for (state,) in counted) == STATES
    return {state: int(number) for (state,), number in counted.items() if number}


def test_open_matches_are_counted_by_what_they_wait_for(
    store: Engine, schedule: Schedule, lapse: Callable[[str], None]
) -> None:
    plan = schedule(4).plan
    remote_bots.add_direct(store, "far", "1", "127.0.0.1:1")
    scheduler.begin(store, plan, ["bot0@1", "far@1"])
    assert open_matches(store) == {"pending": 7}
    add_pushed_version(store, versions.find_version(store, "bot3@1"))
    remote_bots.record_disconnected(store, "far@1")
    assert open_matches(store) == {"pending": 6, "absent": 1}
    assert open_matches(store, pushed=False) == {"pending": 3, "absent": 1, "barred": 3}
    first, second, third = match_leases.due_by_urgency(store, pushed=False).others
    leases = [match_leases.lease(store, match, "w") for match in (first, second, third)]
    assert None not in leases
    lapse(first)
    assert leases[1] is not None
    match_leases.release(store, leases[1], match_leases.ArenaFault("It broke."))
    # The first pause lasts a second, which a busy machine may need until the count.
    with database.writing(store) as connection:
        retry_at = schema.matches.c.retry_at
        connection.execute(update(schema.matches).values(retry_at=retry_at + 100))
    waiting = {"absent": 1, "barred": 3, "lapsed": 1, "retrying": 1, "running": 1}
    assert open_matches(store, pushed=False) == waiting


def test_matches_of_a_paused_tournament_are_held(
    store: Engine, schedule: Schedule, lapse: Callable[[str], None]
) -> None:
    tournament = schedule(3)
    first, second, _ = match_leases.due(store)
    for match in (first, second):
        assert match_leases.lease(store, match, "w") is not None
    lapse(first)
    lifecycle.pause(store, tournament.id)
    assert open_matches(store) == {"held": 2, "running": 1}


def backup_age(store: Engine) -> float:
    return read_gauges(store)[metrics.BACKUP_AGE][()]


def test_a_completed_backup_resets_the_age(
    store: Engine, schedule: Schedule, tmp_path: Path
) -> None:
    assert backup_age(store) == 0
    schedule()
    created = schema.versions.c.created
    with database.writing(store) as connection:
        connection.execute(update(schema.versions).values(created=created - 5000))
    assert 5000 <= backup_age(store) < 6000
    backup_file.backup(store, tmp_path / "backup.db", lambda *_: None)
    assert backup_age(store) < 1000
    # Another backup over an existing file fails, and does not count.
    with database.writing(store) as connection:
        connection.execute(update(schema.audit_log).values(at=schema.audit_log.c.at - 5000))
    with pytest.raises(Conflict):
        backup_file.backup(store, tmp_path / "backup.db", lambda *_: None)
    assert 5000 <= backup_age(store) < 6000

"""Two concurrent transactions in PostgreSQL; SQLite has a single writer.

Each test keeps one transaction open, lets another process start a conflicting one, checks that it
waits, and commits the first.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, event, insert, select, text, update

from arena.errors import Conflict, StoreError, TooMany
from arena.formats.contract import FormatEntrant
from arena.ladders import rater
from arena.store import closings, database, postgresql, schema, webhooks
from arena.store.bots import quarantine, remote_bots, submissions, versions
from arena.store.bots.submissions import ReceivedUpload, SubmissionLimits
from arena.store.matches import listing, match_leases
from arena.store.schema import ClosingKind, MatchState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.store.webhooks import AnnouncementType, WebhookFormat, WebhookScope
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.store.played_matches import leased
from tests.errors import has_code
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long,
    pytest.mark.parametrize("url", [pytest.param("postgresql")], indirect=True),
]

Schedule = Callable[..., Tournament]
Beside = Callable[..., "Future[object]"]


@pytest.fixture
def concurrently(store: Engine) -> Iterator[Beside]:
    """Run a function in another thread; return its future when it waits for a lock or has ended."""
    with ThreadPoolExecutor(4) as pool:

        def begin(do: Callable[..., object], *arguments: object) -> "Future[object]":
            before = waiters(store)
            future = pool.submit(do, *arguments)
            wait_until(lambda: future.done() or waiters(store) != before)
            return future

        yield begin


def waiters(store: Engine) -> int:
    with database.reading(store) as connection:
        query = text(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(connection.execute(query).scalar_one())


def state_of(store: Engine, match: str) -> MatchState:
    with database.reading(store) as connection:
        query = select(schema.matches.c.state).where(schema.matches.c.id == match)
        return MatchState(connection.execute(query).scalar_one())


def locked(connection: Connection, tournament: str) -> None:
    table = schema.tournaments
    connection.execute(select(table.c.id).where(table.c.id == tournament).with_for_update())


def test_concurrent_leases_of_a_match_give_one_lease(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    schedule()
    (match,) = match_leases.due(store)
    with database.writing(store) as connection:
        assert match_leases._lock_if_due(connection, match) is not None
        second = concurrently(match_leases.lease, store, match, "second")
        assert not second.done()
        table = schema.matches
        connection.execute(
            update(table)
            .where(table.c.id == match)
            .values(state=MatchState.RUNNING, attempt=1, lease_until=database.now() + 600)
        )
    assert second.result() is None


def test_a_match_released_during_a_cancellation_is_not_played_again(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    begun_tournament = schedule()
    (match,) = match_leases.due(store)
    lease = leased(store, match)
    with database.writing(store) as connection:
        lifecycle._set_state(
            connection, begun_tournament.id, schema.TournamentState.CANCELLED, ended=database.now()
        )
        back = concurrently(match_leases.release, store, lease)
        assert not back.done()
    back.result()
    assert state_of(store, match) is MatchState.CANCELLED


def test_a_version_quarantined_before_it_joins_is_refused(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    begun_tournament = schedule()
    versions.add_version(store, "late", "1", "f" * 64, "/late", {})
    table = schema.versions
    with database.writing(store) as connection:
        postgresql.lock_rows(connection, select(table.c.id).where(table.c.id == "late@1"))
        joins = concurrently(
            lifecycle.add_entrants, store, begun_tournament.id, [FormatEntrant("late@1")]
        )
        assert not joins.done()
        connection.execute(
            update(table)
            .where(table.c.id == "late@1")
            .values(quarantined=database.now(), quarantine_reason="it fails.")
        )
    with pytest.raises(Conflict, check=has_code("in-quarantine")):
        joins.result()


def test_a_version_quarantined_after_it_joins_is_withdrawn(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    begun_tournament = schedule()
    versions.add_version(store, "late", "1", "f" * 64, "/late", {})
    with database.writing(store) as connection:
        tournaments.keep_versions(connection, ["late@1"])
        locked(connection, begun_tournament.id)
        tournaments.enter(connection, begun_tournament.id, [FormatEntrant("late@1")], first=2)
        shut = concurrently(quarantine._quarantine, store, "late@1")
        assert not shut.done()
    assert shut.result() is True
    (entry,) = [
        each
        for each in tournaments.find_tournament(store, begun_tournament.id).entries
        if each.name == "late@1"
    ]
    assert entry.withdrawn is not None


def test_equal_decisions_of_two_schedulers_are_stored_once(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    begun_tournament = schedule(3)
    with database.writing(store) as connection:
        connection.execute(text("UPDATE matches SET state = 'VOID', ended = 1"))
    seen = lifecycle.marks(store, begun_tournament.id)
    with database.writing(store) as connection:
        locked(connection, begun_tournament.id)
        both = [concurrently(lifecycle.close, store, begun_tournament.id, seen) for _ in range(2)]
        assert not any(future.done() for future in both)
    assert sorted(bool(future.result()) for future in both) == [False, True]


def test_concurrent_submissions_respect_the_limit(store: Engine, concurrently: Beside) -> None:
    limits = SubmissionLimits(per_owner=1)
    with database.writing(store) as connection:
        postgresql.lock_decision(connection, "submit")
        first = concurrently(
            submissions.add_submission,
            store,
            ReceivedUpload("s-1", "ada", "a", "1" * 64, 1),
            limits,
        )
        second = concurrently(
            submissions.add_submission,
            store,
            ReceivedUpload("s-2", "ada", "a", "2" * 64, 1),
            limits,
        )
        assert not first.done()
        assert not second.done()
    refused = [future.exception() for future in (first, second)]
    assert [type(error) for error in refused if error is not None] == [TooMany]


def test_concurrent_requests_create_one_token(store: Engine, concurrently: Beside) -> None:
    version = versions.add_version(store, "far", "1", "", "", {"remote": True})
    table = schema.versions
    with database.writing(store) as connection:
        postgresql.lock_rows(connection, select(table.c.id).where(table.c.id == version.id))
        both = [concurrently(remote_bots.renew, store, version.id) for _ in range(2)]
        assert not any(future.done() for future in both)
    given = [str(future.result()) for future in both]
    known = [remote_bots.version_with_token(store, token) for token in given]
    assert sum(owner is not None for owner in known) == 1


def test_sweeps_lock_matches_in_one_order(
    store: Engine, schedule: Schedule, concurrently: Beside
) -> None:
    schedule(4)
    first, last = min(match_leases.due(store)), max(match_leases.due(store))
    for match in (last, first):
        assert match_leases.lease(store, match, "dead") is not None
    table = schema.matches
    with database.writing(store) as connection:
        connection.execute(select(table.c.id).where(table.c.id == first).with_for_update())
        lapsed = concurrently(match_leases.end_leases, store, "dead")
        assert not lapsed.done()
        # The transaction that waits for the first match has not taken the last.
        rows = select(table.c.id).where(table.c.id == last).with_for_update(nowait=True)
        assert connection.execute(rows).all()
    assert lapsed.result() == 2


def test_a_reader_sees_one_state_throughout(store: Engine) -> None:
    query = select(schema.bots.c.name)
    with database.reading(store) as connection:
        assert connection.execute(query).all() == []
        with database.writing(store) as other:
            other.execute(insert(schema.bots).values(name="a", created=0.0))
        assert connection.execute(query).all() == []


def test_an_older_database_in_use_is_not_upgraded(store: Engine) -> None:
    with database.writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
    with pytest.raises(StoreError, check=has_code("older-version")):
        database.prepare(store)


def test_the_error_of_an_unreachable_server_hides_its_password(url: str) -> None:
    engine = database.open("postgresql://me:secret@127.0.0.1:1/arena?connect_timeout=2")
    sentence = r"me:\*\*\*@127\.0\.0\.1:1/arena.* cannot be used"
    with pytest.raises(StoreError, match=sentence) as failure:
        database.prepare(engine)
    assert "secret" not in str(failure.value)


def test_an_event_that_becomes_visible_during_planning_is_planned_once(
    store: Engine, schedule: Schedule
) -> None:
    kinds, scope = tuple(AnnouncementType), WebhookScope()
    hook = webhooks.add_webhook(store, "https://example.org", WebhookFormat.STANDARD, kinds, scope)
    schedule(bots=2)
    other = database.open(store.url.render_as_string(hide_password=False))
    newest_read = 0

    @event.listens_for(store, "after_cursor_execute")
    def add_event(*of_statement: Any) -> None:
        nonlocal newest_read
        newest_read += "max(closings.seq)" in of_statement[2]
        if newest_read == 2:
            newest_read += 1
            with database.writing(other) as connection:
                closings.add_closing(connection, ClosingKind.TOURNAMENT_ENDED, tournament="t-1")

    webhooks.plan(store)
    assert newest_read == 3
    webhooks.plan(store)
    planned = [each.subject for each in webhooks.log(store, hook.id)]
    assert planned.count("t-1") == 1
    other.dispose()


def test_rating_does_not_deadlock_with_a_transaction_that_locks_tournaments(
    store: Engine, concurrently: Beside, tmp_path: Path
) -> None:
    arena = SimulatedArena(tmp_path, store=store)
    bots = arena.bots(4)
    first, second = sorted(arena.begin("round-robin", bots).id for _ in range(2))
    for tournament in (second, first):
        of_round = [m.id for m in listing.matches(store, tournament=tournament) if m.round == 0]
        arena.play(of_round[0])
    with database.writing(store) as connection:
        locked(connection, first)
        rating = concurrently(rater.advance, store)
        locked(connection, second)
    rating.result()


@pytest.mark.parametrize("is_removed", [True, False])
def test_nothing_is_planned_for_a_webhook_that_goes_away_meanwhile(
    store: Engine, schedule: Schedule, concurrently: Beside, is_removed: bool
) -> None:
    kinds, scope = tuple(AnnouncementType), WebhookScope()
    hook = webhooks.add_webhook(store, "https://example.org", WebhookFormat.STANDARD, kinds, scope)
    schedule(bots=2)
    table = schema.webhooks
    with database.writing(store) as connection:
        if is_removed:
            connection.execute(delete(table).where(table.c.id == hook.id))
        else:
            webhooks._disable(connection, hook.id, "for a test")
        planning = concurrently(webhooks.plan, store)
        assert not planning.done()
    assert planning.result() == 0
    assert webhooks.log(store) == ()

"""Test stored ladders: a process that starts shows them at once, and reads only new matches."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine, event, select, update

from arena.cli.ladders import ladder_table
from arena.ladders import ladder_key, stored_ladders
from arena.ladders.ladder_key import LadderKey
from arena.ladders.ladder_sums import LadderSums
from arena.ladders.stored_ladders import StoredLadder
from arena.ratings.strength.settings import StrengthSettings
from arena.store import schema
from arena.store.database import reading, writing
from arena.store.matches import transitions
from arena.store.matches.games import PlayedGame
from arena.store.tournaments import ladder_folds
from arena.store.tournaments.tournaments import Tournament
from arena.web.data.snapshot import ArenaSnapshot, SnapshotReader
from tests.arena.store.test_ladder_folds import close

Schedule = Callable[..., Tournament]
Played = Callable[..., PlayedGame]


@pytest.fixture(autouse=True)
def store_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_ladders, "MIN_NEW_MATCHES", 1)
    monkeypatch.setattr(ladder_folds, "PART", 1000)


@pytest.fixture
def read_results(store: Engine) -> Iterator[list[str]]:
    """Collect the queries for results that ladder sums require."""
    read: list[str] = []

    def note(*arguments: object) -> None:
        if "thinking" in str(arguments[2]):
            read.append(str(arguments[2]))

    event.listen(store, "before_cursor_execute", note)
    yield read
    event.remove(store, "before_cursor_execute", note)


def snapshot(reader: SnapshotReader) -> ArenaSnapshot:
    read = reader.read()
    assert read is not None
    return read


def started(store: Engine) -> SnapshotReader:
    """Return the reader of a process that has read and stored the ladders."""
    reader = SnapshotReader(store)
    reader.read()
    reader.store_ladders()
    return reader


def close_due(store: Engine, played: Played, many: int | None = None) -> None:
    for match in list(transitions.due(store))[:many]:
        close(store, match, played)


def test_a_process_that_starts_reads_no_match_of_an_unchanged_ladder(
    store: Engine, schedule: Schedule, played: Played, read_results: list[str]
) -> None:
    schedule(bots=3, cycles=2)
    close_due(store, played)
    before = SnapshotReader(store)
    expected = snapshot(before)
    before.store_ladders()
    read_results.clear()
    starting = SnapshotReader(store)
    assert snapshot(starting).ladders == expected.ladders
    assert snapshot(starting).ladders == expected.ladders
    assert starting.read() is None
    assert read_results == []


def test_the_second_snapshot_contains_the_matches_that_closed_since(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=3, cycles=4)
    close_due(store, played, 6)
    started(store)
    close_due(store, played)
    starting = SnapshotReader(store)
    (ladder,) = snapshot(starting).ladders.values()
    assert sum(line.matches for line in ladder.table.lines) == 12
    updated = snapshot(starting)
    ladder_folds.delete_folds(store, ladder.scope.tournaments)
    assert updated.ladders == snapshot(SnapshotReader(store)).ladders


def test_commands_read_only_the_matches_that_closed_since_the_ladder_was_stored(
    store: Engine, schedule: Schedule, played: Played, read_results: list[str]
) -> None:
    schedule(bots=3)
    close_due(store, played)
    started(store)
    read_results.clear()
    (unchanged,) = ladder_table.of_scopes(store, ladder_key.of_forms(store)).values()
    assert read_results == []
    schedule(bots=3)
    close_due(store, played)
    read_results.clear()
    scopes = ladder_key.of_forms(store)
    known: dict[LadderKey, StoredLadder] = {}
    (updated,) = ladder_table.of_scopes(store, scopes, known=known).values()
    assert read_results
    assert all("closed >" in statement for statement in read_results)
    (again,) = ladder_table.of_scopes(store, scopes, known=known).values()
    assert again is updated
    anchors = StrengthSettings(anchors=(("bot0@1", 1500.0),))
    (anchored,) = ladder_table.of_scopes(store, scopes, anchors).values()
    assert anchored.strengths.of("bot0@1").value == 1500
    ladder_folds.delete_folds(store, scopes[0].tournaments)
    (anew,) = ladder_table.of_scopes(store, scopes).values()
    assert updated == anew != unchanged


def test_a_new_tournament_of_the_form_does_not_read_the_others_again(
    store: Engine, schedule: Schedule, played: Played, read_results: list[str]
) -> None:
    schedule(bots=3)
    close_due(store, played)
    reader = started(store)
    schedule(bots=3)
    close_due(store, played)
    read_results.clear()
    (ladder,) = snapshot(reader).ladders.values()
    starting = SnapshotReader(store)
    (stored,) = snapshot(starting).ladders.values()
    (updated,) = snapshot(starting).ladders.values()
    assert read_results
    assert all("closed >" in statement for statement in read_results)
    (scope,) = ladder_key.of_forms(store)
    anew = LadderSums(store, scope.tournaments, scope.clip).now()
    assert ladder.table == updated.table == anew.table(scope.entrants, scope.strength)
    assert stored.table != ladder.table


def test_a_stored_ladder_is_not_used_after_a_correction_or_with_other_settings(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=3)
    close_due(store, played)
    started(store)
    (scope,) = ladder_key.of_forms(store)
    stored = stored_ladders.find(store, scope)
    changed = stored_ladders.find(store, replace(scope, anchors=("bot0@1=1200",)))
    assert stored is not None
    assert stored.table is not None
    assert changed is not None
    assert changed.table is None
    with writing(store) as connection:
        connection.execute(update(schema.ladder_folds).values(corrections=1))
    assert stored_ladders.find(store, scope) is None


def test_stored_ladders_are_deleted_by_tournament(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    tournament = schedule(bots=3)
    close_due(store, played)
    started(store)
    ladder_folds.delete_folds(store, ["t-other"])
    assert ladder_folds.find(store, tournament.id) is not None
    ladder_folds.delete_folds(store, [tournament.id])
    with reading(store) as connection:
        assert connection.execute(select(schema.ladder_folds.c.tournament)).all() == []

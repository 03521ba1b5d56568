"""Test stored rating histories: a process that starts reads only the matches closed since."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine, event, func, select, update

from arena.ladders import ladder_key, rating_history, stored_histories
from arena.ladders.ladder_key import LadderKey
from arena.ladders.rating_history import RatingHistories, RatingHistory
from arena.store import schema
from arena.store.database import reading, writing
from arena.store.matches import transitions
from arena.store.matches.games import PlayedGame
from arena.store.tournaments import ladder_folds
from arena.store.tournaments.ladder_folds import HISTORIES
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.test_ladder_folds import close

Schedule = Callable[..., Tournament]
Played = Callable[..., PlayedGame]
DAY = 86_400


@pytest.fixture(autouse=True)
def store_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_history, "FEWEST_NEW", 1)
    monkeypatch.setattr(ladder_folds, "PART", 1000)


@pytest.fixture
def queries(store: Engine) -> Iterator[list[str]]:
    """Collect the queries for the results of matches."""
    read: list[str] = []

    def note(*arguments: object) -> None:
        if "SELECT results.digest" in str(arguments[2]):
            read.append(str(arguments[2]))

    event.listen(store, "before_cursor_execute", note)
    yield read
    event.remove(store, "before_cursor_execute", note)


def scope(store: Engine) -> LadderKey:
    (only,) = ladder_key.of_forms(store)
    return only


def past(store: Engine, histories: RatingHistories | None = None) -> RatingHistory:
    history = (histories or RatingHistories(store)).past(scope(store))
    assert history is not None
    return history


def computed(store: Engine) -> RatingHistory:
    """Return the history as a process computes it from all matches."""
    ladder_folds.delete_folds(store, scope(store).tournaments)
    return past(store)


def stored(store: Engine) -> RatingHistories:
    """Return the histories of a process that has stored them."""
    histories = RatingHistories(store)
    past(store, histories)
    histories.store()
    return histories


def close_due(store: Engine, played: Played, many: int | None = None) -> None:
    for match in list(transitions.due(store))[:many]:
        close(store, match, played)


def make_older(store: Engine, days: float) -> None:
    """Move the closing times of all matches into the past."""
    results = schema.results
    with writing(store) as connection:
        connection.execute(update(results).values(closed=results.c.closed - DAY * days))


def test_a_process_that_starts_reads_no_match_that_is_in_a_stored_history(
    store: Engine, schedule: Schedule, played: Played, queries: list[str]
) -> None:
    schedule(bots=4, cycles=2)
    close_due(store, played)
    make_older(store, days=2)
    stored(store)
    queries.clear()
    history = past(store)
    assert all("closed >" in query for query in queries)
    assert len(history.points) == 6
    assert len(history.yesterday) == 4
    assert history == computed(store)


def test_a_stored_history_is_continued_with_the_matches_that_closed_since(
    store: Engine, schedule: Schedule, played: Played, queries: list[str]
) -> None:
    schedule(bots=4, cycles=2)
    close_due(store, played, 6)
    make_older(store, days=2)
    stored(store)
    close_due(store, played)
    queries.clear()
    history = past(store)
    assert all("closed >" in query for query in queries)
    assert [point.matches for point in history.points] == [2, 4, 6, 8, 10, 12]
    assert history == computed(store)


def test_a_history_younger_than_a_day_is_stored_too(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=4, cycles=2)
    close_due(store, played, 6)
    stored(store)
    close_due(store, played)
    assert past(store) == computed(store)
    assert past(store).yesterday == {}


def test_an_incomplete_history_is_stored_and_continued(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=4, cycles=2)
    close_due(store, played)
    make_older(store, days=2)
    calls = 1
    while (history := (histories := RatingHistories(store)).past(scope(store), seconds=0)) is None:
        histories.store()
        calls += 1
    assert calls >= 6
    assert history == computed(store)


def test_a_history_is_stored_again_only_after_many_matches(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=4, cycles=2)
    close_due(store, played, 6)
    histories = stored(store)
    close_due(store, played, 2)
    past(store, histories)
    histories.store(fewest=3)
    assert matches(store) == 6
    close_due(store, played, 2)
    past(store, histories)
    histories.store(fewest=3)
    assert matches(store) == 10


def matches(store: Engine) -> int:
    """Return the number of matches of the stored history."""
    with reading(store) as connection:
        return int(connection.execute(select(func.max(HISTORIES.c.matches))).scalar_one())


def test_a_stored_history_is_not_used_after_a_correction_or_with_other_settings(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    schedule(bots=3)
    close_due(store, played)
    stored(store)
    ladder = scope(store)
    assert stored_histories.find(store, ladder) is not None
    assert stored_histories.find(store, replace(ladder, anchors=("bot0@1=1200",))) is None
    assert stored_histories.find(store, replace(ladder, tournaments=("t-other",))) is None
    with writing(store) as connection:
        connection.execute(update(HISTORIES).values(corrections=1))
    assert stored_histories.find(store, ladder) is None


def test_a_damaged_history_is_not_used(store: Engine, schedule: Schedule, played: Played) -> None:
    schedule(bots=3)
    close_due(store, played)
    stored(store)
    with writing(store) as connection:
        connection.execute(update(HISTORIES).values(data=b"x" * 900))
    assert stored_histories.find(store, scope(store)) is None

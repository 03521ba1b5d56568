"""A simulated season keeps its invariants, and each check reports a planted defect."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from arena.events.messages import MatchClosed
from arena.ladders import ladder_sums
from arena.ladders.ladder_sums import LadderSums
from arena.presentation.registry import presentation_of
from arena.store import database
from arena.store.matches.games import PlayedGame
from arena.store.matches.transitions import Lease
from bench.season import lines
from bench.season_checks import SeasonReport, check
from bench.season_simulator import (
    GAME,
    NO_FAILURES,
    Failures,
    Season,
    SeasonPlan,
    StoreAccess,
    season,
)

TINY = SeasonPlan(bots=20, matches=60, workers=6, failures=NO_FAILURES)
OFTEN = Failures(0.05, 0.03, 0.02, 0.03, 0.05, 0.1, 40.0, 60.0)
"""Failures so frequent that a small season has each of them."""
SMALL = SeasonPlan(bots=40, matches=300, workers=15, failures=OFTEN)


CLOSED_ONCE = "each match closes exactly once"


def reported(plan: SeasonPlan, access: Callable[[Engine], StoreAccess]) -> SeasonReport:
    """Simulate a season and return its report."""
    with season(plan, access) as simulated:
        simulated.run()
        return check(simulated)


def violated(plan: SeasonPlan, access: Callable[[Engine], StoreAccess]) -> list[str]:
    """Simulate a season with a defect, and return the violated invariants."""
    return [
        invariant.name for invariant in reported(plan, access).invariants if not invariant.holds
    ]


def schedule(simulated: Season) -> list[tuple[object, ...]]:
    """Return all matches with their results, without times and attempts."""
    with closing(sqlite3.connect(str(simulated.engine.url.database))) as raw:
        return raw.execute(
            "SELECT t.name, m.round, m.number, m.why, m.state, r.digest FROM matches m"
            " JOIN tournaments t ON t.id = m.tournament JOIN results r ON r.match = m.id"
            " ORDER BY t.name, m.round, m.number"
        ).fetchall()


@pytest.mark.long
def test_a_tiny_season_without_failures_keeps_all_invariants() -> None:
    report = reported(TINY, StoreAccess)
    assert report.holds, "\n".join(lines(report))
    assert report.figures["closed"] == TINY.matches
    assert report.figures["attempts"] == TINY.matches
    assert report.events == {}
    assert "VIOLATED" not in "\n".join(lines(report))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_season_with_failures_plays_the_same_matches_as_one_without() -> None:
    played = []
    for failures in (OFTEN, NO_FAILURES):
        with season(replace(SMALL, failures=failures)) as simulated:
            seen = simulated.run()
            report = check(simulated)
            assert report.holds, "\n".join(lines(report))
            assert report.figures["closed"] == SMALL.matches
            played.append(schedule(simulated))
        if failures is OFTEN:
            kinds = {"crash", "freeze", "error", "drain", "job lost", "job doubled"}
            kinds |= {"sweeper restarted", "Redis lost its data", "late write refused"}
            assert kinds <= seen.events.keys()
    assert played[0] == played[1]
    assert len(played[0]) == SMALL.matches


@pytest.mark.long
def test_a_match_that_closes_twice_is_reported() -> None:
    class ClosesTwice(StoreAccess):
        def commit_game(self, lease: Lease, game: PlayedGame) -> bool:
            is_closed = super().commit_game(lease, game)
            if is_closed:
                closed = MatchClosed(lease.match, lease.spec.tournament or "")
                database.publish(self.engine, [closed])
            return is_closed

    assert CLOSED_ONCE in violated(TINY, ClosesTwice)


@pytest.mark.long
def test_two_workers_on_one_match_are_reported() -> None:
    class LapsesAtOnce(StoreAccess):
        def lease(self, match: str, worker: str) -> Lease | None:
            with database.writing(self.engine) as connection:
                connection.execute(text("UPDATE matches SET lease_until = 0"))
            return super().lease(match, worker)

    plan = replace(TINY, failures=replace(NO_FAILURES, doubled_job=0.5))
    assert "one worker at a time" in violated(plan, LapsesAtOnce)


@pytest.mark.long
def test_a_match_that_is_refused_for_long_is_reported_as_late() -> None:
    class Refuses(StoreAccess):
        def __init__(self, engine: Engine) -> None:
            super().__init__(engine)
            self.refusals: Counter[str] = Counter()

        def lease(self, match: str, worker: str) -> Lease | None:
            self.refused = getattr(self, "refused", match)
            self.refusals[match] += 1
            if match == self.refused and self.refusals[match] <= 1000:
                return None
            return super().lease(match, worker)

    names = violated(replace(TINY, bots=40), Refuses)
    assert "a match begins at most this late" in names
    assert "a match waits at most this long" in names


@pytest.mark.long
def test_a_ladder_that_is_read_only_once_is_reported_as_stale() -> None:
    class ReadsOnce(StoreAccess):
        def read(self, ladder: LadderSums) -> int:
            return ladder.folded or super().read(ladder)

    assert "ladders are at most this old" in violated(TINY, ReadsOnce)


@pytest.mark.long
def test_sums_that_count_a_match_twice_are_reported() -> None:
    class CountsTwice(StoreAccess):
        def read(self, ladder: LadderSums) -> int:
            folded = super().read(ladder)
            clip = presentation_of(GAME).clip
            for name in ladder._of:
                for match in ladder_sums.digests(self.engine, [name], clip):
                    ladder._fold.add(match)
            return folded

    assert "incremental sums equal new ones" in violated(TINY, CountsTwice)


@pytest.mark.long
def test_too_many_queries_are_reported() -> None:
    class RenewsOften(StoreAccess):
        def renew(self, lease: Lease) -> bool:
            for _ in range(200):
                super().renew(lease)
            return super().renew(lease)

    assert "load of the database" in violated(TINY, RenewsOften)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "invariant"),
    [
        ("DELETE FROM results WHERE match = (SELECT min(id) FROM matches)", CLOSED_ONCE),
        ("UPDATE matches SET state = 'VOID' WHERE number = 0", CLOSED_ONCE),
        ("UPDATE games SET attempt = 2 WHERE game = 0", "each game is committed exactly once"),
        ("DELETE FROM games WHERE game = 1", "each game is committed exactly once"),
        ("UPDATE matches SET state = 'RUNNING' WHERE round = 1", "no match is lost"),
        (
            "UPDATE match_entrants SET version = 'other@1' WHERE version = 'b00000@1'"
            " AND match IN (SELECT id FROM matches WHERE round < 8)",
            "matches between two of a bot",
        ),
    ],
)
def test_a_changed_store_is_reported(ended: Season, change: str, invariant: str) -> None:
    assert check(ended).holds
    path = str(ended.engine.url.database)
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(":memory:")) as copy:
        raw.backup(copy)
        with raw:
            raw.execute(change)
        try:
            assert not check(ended).of(invariant).holds
        finally:
            copy.backup(raw)


@pytest.fixture(scope="module")
def ended() -> Iterator[Season]:
    """Return a season that has ended."""
    with season(replace(TINY, matches=160)) as simulated:
        simulated.run()
        yield simulated

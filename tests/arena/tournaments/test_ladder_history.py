"""Test what a ladder reads for its next round: never more, less or other than its rounds."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from arena.formats.contract import FormatMatch, NextMatches, PairingStrengths, WaitForMatches
from arena.formats.ladder import LadderFormat
from arena.formats.pairing_strengths import fit_strengths, meetings_of
from arena.ladders import rater
from arena.records.bundle.audit import audit
from arena.records.bundle.collection import gather
from arena.store import database, schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.database import reading, writing
from arena.store.match_settings import Clock
from arena.store.matches import corrections, listing, match_leases
from arena.store.matches.table_plan import plan
from arena.store.schema import MatchState
from arena.store.tournaments import schedule, tournaments
from arena.store.tournaments.format_history import FormatHistory
from arena.tournaments import scheduler
from arena.tournaments.match_pace import LEAST_SECONDS
from arena.tournaments.scheduler import LadderHistory, Scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.records.bundle.simulated_arena import SimulatedArena, game_of
from tests.new_database import write_new_database


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Engine]:
    write_new_database(tmp_path / "arena.db")
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")
    yield engine
    engine.dispose()


def begin(store: Engine, settings: Mapping[str, int] | None = None) -> str:
    """Begin a ladder of four bots with two matches a round; return its id."""
    for bot in range(4):
        versions.add_version(store, f"bot{bot}", "1", f"{bot:064x}", f"/bots/{bot}", {"run": ["x"]})
    plan = poke_plan(name="open", options={}, format="ladder", settings=settings or {"batch": 2})
    return scheduler.begin(store, plan, [f"bot{bot}@1" for bot in range(4)]).id


def strengths(store: Engine, ladder: str) -> dict[int, PairingStrengths]:
    with reading(store) as connection:
        return schedule.read_strengths(connection, ladder)


@pytest.mark.parametrize("limit", [0, 7])
def test_a_ladder_waits_without_reading_its_matches_exactly_if_its_format_waits(
    store: Engine, limit: int
) -> None:
    ladder = begin(store, {"batch": 2, "limit": limit})
    rules = LadderFormat(batch=2, limit=limit)
    advancing, dice, waited = Scheduler(store), random.Random(3), []
    for _ in range(24):
        due = match_leases.due(store)
        if due:
            match_leases.void(store, dice.choice(due), "for a test")
        tournament = tournaments.find_tournament(store, ladder)
        reading_anew = LadderHistory(store, tournament, rules)
        step = reading_anew.next(tournament)
        waited.append(reading_anew.is_waiting())
        assert waited[-1] == isinstance(step, WaitForMatches)
        advancing.advance()
    assert set(waited) == {True, False}


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_old_rounds_are_read_a_few_at_a_time(
    store: Engine, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    ladder, rules = begin(store), LadderFormat(batch=2)
    advancing = Scheduler(store)
    for _ in range(6):
        for match in match_leases.due(store):
            match_leases.void(store, match, "for a test")
        advancing.advance()
    for match in match_leases.due(store):
        match_leases.void(store, match, "for a test")
    tournament = tournaments.find_tournament(store, ladder)
    expected = rules.next(tournament.entries, FormatHistory(store, ladder).matches())
    assert isinstance(expected, NextMatches)
    monkeypatch.setattr(scheduler, "_MATCHES_AT_ONCE", at_once)
    history = LadderHistory(store, tournament, rules)
    for _ in range(2):
        step = history.next(tournament)
        assert isinstance(step, NextMatches)
        assert step.fixtures == expected.fixtures


@pytest.mark.long
def test_an_interrupted_ladder_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    """Neither the order of results, restarts nor the ratings change what is paired."""
    played = []
    for name in ("steady", "interrupted"):
        arena = SimulatedArena(tmp_path / name, random.Random(name))
        ladder = arena.begin("ladder", arena.bots(6), settings={"batch": 3, "limit": 36})
        rng = random.Random(1)
        while due := list(match_leases.due(arena.engine)):
            arena.dice.shuffle(due)
            for match in due[: arena.dice.randrange(1, 4)]:
                arena.play(match)
                if name == "interrupted" and rng.random() < 0.3:
                    rater.advance(arena.engine)
            (Scheduler(arena.engine).advance if name == "interrupted" else arena.ask)()
        matches = listing.matches(arena.engine, tournament=ladder.id)
        assert [match.state for match in matches] == [MatchState.CLOSED] * 36
        fixtures = [(match.round, match.number, match.entrants, match.why) for match in matches]
        used = strengths(arena.engine, ladder.id)
        assert used.keys() == set(range(1, 12))
        played.append((fixtures, [dict(each.values) for each in used.values()]))
    assert played[0] == played[1]
    assert len(played[0][1][-1]) == 6


def test_a_round_is_paired_from_the_results_that_count_at_its_event(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    ladder = arena.begin("ladder", arena.bots(4), settings={"batch": 2})
    for _ in range(4):
        arena.wave()
    rater.advance(arena.engine)
    corrections.disqualify(arena.engine, ladder.id, "bot0@1", COMMAND_LINE, "for a test")
    arena.wave()
    number, used = list(strengths(arena.engine, ladder.id).items())[-1]
    counted: list[FormatMatch] = [
        match
        for match in FormatHistory(arena.engine, ladder.id).matches()
        if match.round < number - 1
    ]
    assert used.values == fit_strengths(meetings_of(counted))
    assert "bot0@1" not in used.values


def age(store: Engine, match: str, seconds: float) -> None:
    """Move the beginning of a match's attempt into the past."""
    table = schema.matches
    with writing(store, "test") as connection:
        connection.execute(
            update(table).where(table.c.id == match).values(leased=table.c.leased - seconds)
        )


SLOW = Clock(allowance_ms=5_000, bank_ms=600_000)


def test_a_round_waits_for_a_slow_match_at_most_twice_its_expected_time(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    ladder = arena.begin("ladder", arena.bots(4), settings={"batch": 2}, clock=SLOW)
    scheduling = Scheduler(arena.engine)
    slow, *others = match_leases.due(arena.engine)
    lease = arena.lease(slow)
    for match in others:
        arena.play(match)
    scheduling.advance()
    for match in match_leases.due(arena.engine):
        arena.play(match)
    assert scheduling.advance() == 0
    assert isinstance(scheduler.current_step(arena.engine, ladder), WaitForMatches)
    # The other matches closed after milliseconds, so that the least expected time decides.
    age(arena.engine, slow, 2 * LEAST_SECONDS)
    assert scheduling.advance() == 2
    assert len(strengths(arena.engine, ladder.id)[2].values) == 2, (
        "only one match of the first round has a result"
    )
    still_open = audit(gather(arena.engine, ladder.id))
    for table in plan(lease.spec):
        for board in table.boards:
            match_leases.commit_game(arena.engine, lease, game_of(lease.spec, table, board))
    for _ in range(2):
        for match in match_leases.due(arena.engine):
            arena.play(match)
        scheduling.advance()
    closed_late = audit(gather(arena.engine, ladder.id))
    assert (still_open.problems, closed_late.problems) == ((), ())
    *_, newest = strengths(arena.engine, ladder.id).values()
    assert len(newest.values) == 4, "the result counts in later rounds"


def test_a_fast_match_is_never_late(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    arena.begin("ladder", arena.bots(4), settings={"batch": 2})
    scheduling = Scheduler(arena.engine)
    first, *others = match_leases.due(arena.engine)
    arena.lease(first)
    for match in others:
        arena.play(match)
    assert scheduling.advance() == 2
    age(arena.engine, first, 10_000)
    assert scheduling.advance() == 0

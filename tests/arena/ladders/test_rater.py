"""Test that ladders in rows equal what their matches give, whatever happens in between."""

import random
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, select, update

from arena.errors import Conflict
from arena.formats.contract import FormatEntrant
from arena.ladders import ladder_key, ladder_rows, rater, result_sums
from arena.ladders.ladder_key import LadderKey
from arena.ratings import standings
from arena.ratings.crosstable import cells
from arena.ratings.entrant_sums import EntrantSums
from arena.ratings.meetings import Meetings
from arena.ratings.standings import FittedStandings, StandingsLine
from arena.ratings.strength import fit
from arena.services.rating_service import RatingService
from arena.store import database, schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.match_settings import Clock
from arena.store.matches import corrections, listing, match_leases, results
from arena.store.matches.table_plan import plan
from arena.store.schema import MatchState
from arena.store.tournaments import lifecycle, tournaments
from tests.arena.records.bundle.simulated_arena import SimulatedArena, game_of


@pytest.fixture
def arena(store: Engine, tmp_path: Path) -> SimulatedArena:
    return SimulatedArena(tmp_path, random.Random(0), store)


def keys(engine: Engine) -> list[LadderKey]:
    single = map(ladder_key.of_tournament, tournaments.list_tournaments(engine))
    return [*ladder_key.of_seasons(engine), *single]


def from_games(engine: Engine, key: LadderKey) -> FittedStandings:
    played = results.closed(engine, key.tournaments)
    return standings.of_matches(played, key.clip, key.entrants, key.strength)


def assert_equals_the_games(engine: Engine) -> None:
    for key in keys(engine):
        rater.advance(engine, key)
        fitted = from_games(engine, key)
        expected = fitted.table
        whole = ladder_rows.read_ladder(engine, key)
        assert_equal(whole.table.lines, expected.lines)
        assert dict(whole.seen) == last_closed(engine, key)
        assert replace(whole.table, lines=()) == replace(expected, lines=())
        assert whole.table.thinking.keys() == {
            name for match in results.closed(engine, key.tournaments) for name in match.entrants
        }
        cells_of_games = dict(cells(fitted.meetings))
        names = expected.entrants
        assert dict(ladder_rows.read_crosstable(engine, key, names)) == cells_of_games
        assert (
            dict(ladder_rows.read_crosstable(engine, key, names[:1], ())).items()
            >= {pair: cell for pair, cell in cells_of_games.items() if names[0] in pair}.items()
        )
        assert_equal(rater.fitted_ladder(engine, key).table.lines, expected.lines)


def last_closed(engine: Engine, key: LadderKey) -> dict[str, float]:
    """Return when the last match of each entrant closed, by the matches themselves."""
    sides = schema.match_entrants
    query = (
        select(sides.c.version, func.max(sides.c.closed).label("closed"))
        .where(sides.c.tournament.in_(key.tournaments), sides.c.closed.is_not(None))
        .group_by(sides.c.version)
    )
    with database.reading(engine) as connection:
        return {row.version: row.closed for row in connection.execute(query)}


def assert_equal(found: Sequence[StandingsLine], expected: Sequence[StandingsLine]) -> None:
    """Compare lines: Elo to 1e-9, because the order of sums within a round is not fixed."""
    assert [replace(line, elo=0.0) for line in found] == [
        replace(line, elo=0.0) for line in expected
    ]
    assert [line.elo for line in found] == pytest.approx(
        [line.elo for line in expected], rel=0, abs=1e-9
    )


def rows(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of all ladders, without times of computation."""
    tables = (schema.line_ups, schema.entrant_sums, schema.standings, schema.rating_points)
    with database.reading(engine) as connection:
        return {
            table.name: sorted(
                (dict(row) for row in connection.execute(select(table)).mappings()), key=repr
            )
            for table in tables
        }


def correct(arena: SimulatedArena) -> None:
    """Void or replay a closed match, or disqualify one of its entrants."""
    engine, dice, table = arena.engine, arena.dice, schema.matches
    query = select(*table.c["id", "tournament"]).where(table.c.state == MatchState.CLOSED)
    with database.reading(engine) as connection:
        closed = connection.execute(query.order_by(table.c.id)).all()
    if not closed:
        return
    match = dice.choice(closed)
    is_open = tournaments.find_tournament(engine, match.tournament).ended is None
    if is_open and dice.random() < 0.3:
        version = dice.choice(listing.find_match(engine, match.id).entrants)
        corrections.disqualify(engine, match.tournament, version, COMMAND_LINE, "it cheated")
    elif is_open and dice.random() < 0.5:
        with suppress(Conflict):
            corrections.replay(engine, match.id, COMMAND_LINE, "a wrong table")
    else:
        corrections.void(engine, match.id, COMMAND_LINE, "a wrong table")


def begin(arena: SimulatedArena) -> None:
    """Begin tournaments of two forms: two of one ladder, and a season each."""
    bots = arena.bots(6)
    arena.begin("round-robin", bots[:4], settings={"cycles": 2}, corrections=1)
    arena.begin("ladder", bots, settings={"limit": 12})
    arena.begin("round-robin", bots[:4], game="saint_poker", seats=4, corrections=1)


def live(arena: SimulatedArena, steps: int, rate: Callable[[], object]) -> None:
    """Play, correct, enter, withdraw and begin a season; call `rate` from time to time."""
    dice, engine = arena.dice, arena.engine
    for step in range(steps):
        arena.wave(dice.randrange(1, 6))
        if step % 3 == 1:
            correct(arena)
        if step == steps // 2:
            arena.begin("ladder", arena.bots(4), settings={"limit": 8, "season": 2})
            [new] = arena.bots(1, first=9)
            for tournament in tournaments.list_tournaments(engine, over=False):
                if tournament.plan.format == "ladder":
                    lifecycle.add_entrants(engine, tournament.id, [FormatEntrant(new, "")])
                    lifecycle.withdraw(engine, tournament.id, tournament.entrants[0])
        if dice.random() < 0.5:
            rate()


@pytest.mark.parametrize(
    "seed",
    [1, *(pytest.param(n, marks=[pytest.mark.long, pytest.mark.repetition]) for n in (2, 3))],
)
def test_rows_equal_the_games_after_any_events(arena: SimulatedArena, seed: int) -> None:
    arena.dice = random.Random(seed)
    begin(arena)
    live(arena, 14, lambda: rater.advance(arena.engine))
    assert_equals_the_games(arena.engine)
    played = [
        line
        for key in keys(arena.engine)
        for line in ladder_rows.read_ladder(arena.engine, key).table.lines
    ]
    assert sum(line.corrections for line in played) > sum(line.defaults for line in played) > 0
    before = rows(arena.engine)
    for key in keys(arena.engine):
        rater.rebuild(arena.engine, key)
    assert rows(arena.engine) == before


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "events", [200, pytest.param(10_000, marks=pytest.mark.repetition, id="10,000")]
)
def test_a_rebuilt_ladder_equals_the_rated_one_after_many_events(
    arena: SimulatedArena, events: int
) -> None:
    dice, engine = random.Random(events), arena.engine
    arena.begin("round-robin", arena.bots(8), settings={"cycles": max(events // 25, 1)})
    games: dict[object, list[Any]] = {}
    due: list[str] = []
    closed: list[str] = []
    for _ in range(events):
        if not due:
            due = list(match_leases.due(engine))
            dice.shuffle(due)
        event = dice.random()
        if event < 0.6 or not closed:
            closed.append(due.pop())
            close(arena, closed[-1], games, dice)
        elif event < 0.8:
            corrections.void(engine, pop(closed, dice), COMMAND_LINE, "a wrong table")
        else:
            match = pop(closed, dice)
            due.append(corrections.replay(engine, match, COMMAND_LINE, "a wrong table"))
        if dice.random() < 0.01:
            rater.advance(engine)
    assert_equals_the_games(engine)
    before = rows(engine)
    for key in keys(engine):
        rater.rebuild(engine, key)
    for table, of_table in rows(engine).items():
        assert_almost_equal(of_table, before[table])


def pop(matches: list[str], dice: random.Random) -> str:
    return matches.pop(dice.randrange(len(matches)))


def close(
    arena: SimulatedArena, match: str, games: dict[object, list[Any]], dice: random.Random
) -> None:
    lease = arena.lease(match)
    for table in plan(lease.spec):
        for board in table.boards:
            played = games.setdefault((table, board), [])
            if len(played) < 8:
                played.append(game_of(lease.spec, table, board))
            match_leases.commit_game(arena.engine, lease, dice.choice(played))


def assert_almost_equal(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Compare rows: Elo to 1e-9, because the order of sums within a round is not fixed."""
    inexact = dict.fromkeys(("elo", "settled_elo"))
    for row, other in zip(found, expected, strict=True):
        assert {**row, **inexact} == {**other, **inexact}
        for name in inexact:
            mine, theirs = row.get(name) or 0.0, other.get(name) or 0.0
            assert mine == pytest.approx(theirs, rel=0, abs=1e-9)


@pytest.mark.long
def test_processes_that_rate_at_once_write_the_same_rows(arena: SimulatedArena) -> None:
    begin(arena)
    stop = Event()

    def rate() -> None:
        while not stop.is_set():
            rater.advance(arena.engine)

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(rate) for _ in range(2)]
        try:
            live(arena, 8, lambda: None)
        finally:
            stop.set()
        for each in running:
            each.result()
    assert_equals_the_games(arena.engine)
    before = rows(arena.engine)
    for key in keys(arena.engine):
        rater.rebuild(arena.engine, key)
    assert rows(arena.engine) == before


@pytest.mark.long
@pytest.mark.parametrize("transaction", ["sum_results", "write_standings", "write_rating_points"])
@pytest.mark.parametrize(
    "edge",
    ["written", *(pytest.param(e, marks=pytest.mark.repetition) for e in ("begin", "committed"))],
)
def test_rows_are_right_after_a_kill(
    arena: SimulatedArena, transaction: str, edge: str, rate_and_die: Callable[[str], None]
) -> None:
    begin(arena)
    live(arena, 6, lambda: rate_and_die(f"{transaction}.{edge}"))
    assert_equals_the_games(arena.engine)
    before = rows(arena.engine)
    for key in keys(arena.engine):
        rater.rebuild(arena.engine, key)
    assert rows(arena.engine) == before


def test_a_match_that_becomes_void_before_its_end_changes_no_sum(arena: SimulatedArena) -> None:
    begin(arena)
    arena.wave(4)
    begun, pending, *_ = match_leases.due(arena.engine)
    arena.play(begun, most=1)
    for match in (begun, pending):
        assert match_leases.void(arena.engine, match, "a broken machine")
    assert_equals_the_games(arena.engine)


def test_a_point_of_a_history_has_a_95_percent_interval() -> None:
    point = ladder_rows.RatingPoint(1, 0.0, 1, "ada@1", 100.0, 50.0)
    assert (point.low, point.high) == pytest.approx((2.0018, 197.9982), abs=1e-4)


def test_a_ladder_has_the_anchors_of_all_its_tournaments(arena: SimulatedArena) -> None:
    bots = arena.bots(3)
    for anchors in ("bot0@1=1500", "bot1@1=1400:50", "bot0@1=1600"):
        arena.begin("ladder", bots, settings={"limit": 4, "anchors": anchors})
    [ladder, *_] = keys(arena.engine)
    assert ladder.strength.anchors == (("bot0@1", 1600.0),)
    assert ladder.strength.loose_anchors == (("bot1@1", 1400.0, 50.0),)


def test_the_last_match_of_a_ladder_may_be_that_of_an_older_tournament(
    arena: SimulatedArena,
) -> None:
    bots = arena.bots(2)
    older, newer = (arena.begin("round-robin", bots, seed=bytes([n] * 32)) for n in range(2))
    for tournament in (newer, older):
        [match] = listing.matches(arena.engine, tournament=tournament.id)
        arena.play(match.id)
    [ladder, *_] = keys(arena.engine)
    assert ladder.tournaments == (older.id, newer.id)
    seen = rater.current_ladder(arena.engine, ladder).seen
    assert seen == last_closed(arena.engine, ladder)


def test_an_open_replay_does_not_keep_a_round_open(arena: SimulatedArena) -> None:
    tournament = arena.begin("round-robin", arena.bots(2))
    [match] = match_leases.due(arena.engine)
    arena.play(match)
    corrections.replay(arena.engine, match, COMMAND_LINE, "a wrong table")
    rater.advance(arena.engine)
    ends = schema.round_ends
    with database.reading(arena.engine) as connection:
        ended = connection.execute(select(*ends.c["tournament", "round"])).all()
    assert ended == [(tournament.id, 0)]


def test_a_fit_of_earlier_results_does_not_replace_later_rows(
    arena: SimulatedArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = arena.engine
    arena.begin("round-robin", arena.bots(3))
    [ladder, *_] = keys(engine)
    arena.wave(1)

    def overtaken(*results: Any) -> FittedStandings:
        """Fit, while another process adds a match and writes the rows."""
        monkeypatch.undo()
        arena.wave(1)
        rater.advance(engine, ladder)
        return standings.fitted_standings(*results)

    monkeypatch.setattr(rater, "fitted_standings", overtaken)
    rater.advance(engine, ladder)
    assert ladder_rows.read_ladder(engine, ladder).table.matches == 2
    assert_equals_the_games(engine)


def test_the_history_of_a_version_disappears_with_its_last_match(arena: SimulatedArena) -> None:
    engine = arena.engine
    tournament = arena.begin("round-robin", arena.bots(3))
    arena.wave()
    rater.advance(engine)
    [ladder, *_] = keys(engine)
    versions = {point.version for point in ladder_rows.read_history(engine, ladder)}
    assert versions == {"bot0@1", "bot1@1", "bot2@1"}
    for match in listing.matches(engine, tournament=tournament.id):
        if "bot0@1" in match.entrants:
            corrections.void(engine, match.id, COMMAND_LINE, "a wrong table")
    rater.advance(engine)
    assert {point.version for point in ladder_rows.read_history(engine, ladder)} == {
        "bot1@1",
        "bot2@1",
    }


def test_replaying_a_void_match_subtracts_it_once(arena: SimulatedArena) -> None:
    match, _ = half_a_round(arena)
    corrections.void(arena.engine, match, COMMAND_LINE, "a wrong table")
    corrections.replay(arena.engine, match, COMMAND_LINE, "a wrong table")
    assert_equals_the_games(arena.engine)


@pytest.mark.parametrize("end", ["disqualify", "withdraw", "cancel"])
def test_a_round_ends_when_its_last_match_is_not_played(arena: SimulatedArena, end: str) -> None:
    engine = arena.engine
    _, waiting = half_a_round(arena)
    match = listing.find_match(engine, waiting)
    rater.advance(engine)
    if end == "disqualify":
        bot = match.entrants[0]
        corrections.disqualify(engine, match.tournament, bot, COMMAND_LINE, "it cheated")
    elif end == "withdraw":
        lifecycle.withdraw(engine, match.tournament, match.entrants[0])
    else:
        lifecycle.cancel(engine, match.tournament)
    # It rates each ladder at once, also those that were fitted a moment ago.
    assert_equals_the_games(engine)
    with database.reading(engine) as connection:
        over = connection.execute(select(schema.round_ends.c.round)).scalars().all()
        settled = connection.execute(select(schema.ladder_fits.c.settled)).scalars().all()
    assert over == [0]
    assert settled == [[0, 0], [0, 0]]


def half_a_round(arena: SimulatedArena) -> tuple[str, str]:
    """Begin a round-robin, and play one of the two matches of its first round."""
    arena.begin("round-robin", arena.bots(4))
    first, second = sorted(m.id for m in listing.matches(arena.engine) if m.round == 0)
    arena.play(first)
    return first, second


def test_each_clock_class_has_its_own_ladder(arena: SimulatedArena) -> None:
    bots, engine = arena.bots(2), arena.engine
    for clock in (Clock(), Clock(allowance_ms=5_000), Clock(allowance_ms=60_000)):
        arena.begin("round-robin", bots, clock=clock)
    last = arena.begin("round-robin", bots)
    while arena.wave():
        pass
    rater.advance(engine)

    def matches() -> dict[str, int]:
        scopes = ladder_key.of_seasons(engine)
        return {key.id: ladder_rows.read_ladder(engine, key).table.matches for key in scopes}

    assert matches() == {"poke/1": 2, "poke~model/1": 1, "poke~slow/1": 1}
    fits = schema.ladder_fits
    stored = select(*fits.c["ladder", "clock_class"]).where(fits.c.ladder.like("poke%"))
    assert {tuple(row) for row in database.read_rows(engine, stored)} == {
        ("poke/1", "fast"),
        ("poke~model/1", "model"),
        ("poke~slow/1", "slow"),
    }
    assert [key.name for key in ladder_key.of_seasons(engine, "poke~slow")] == ["poke~slow"]
    # Matches are rated by their own clock.
    with database.writing(engine) as connection:
        table = schema.tournaments
        of_last = update(table).where(table.c.id == last.id)
        connection.execute(of_last.values(bank_ms=60_001))
    for key in ladder_key.of_seasons(engine):
        rater.rebuild(engine, key)
    assert matches() == {"poke/1": 1, "poke~model/1": 1, "poke~slow/1": 2}
    assert_equals_the_games(engine)


def test_ladders_that_begin_the_same_season_begin_seasons_of_their_own(
    arena: SimulatedArena,
) -> None:
    bots = arena.bots(3)
    arena.begin("round-robin", bots)
    for number in (1, 2, 2):
        arena.begin("ladder", bots, settings={"limit": 3, "season": number})
        arena.wave(2)
    rater.advance(arena.engine)
    assert [key.id for key in ladder_key.of_seasons(arena.engine)] == [
        "poke/1",
        "poke/2",
        "poke/3",
        "poke/4",
    ]
    assert_equals_the_games(arena.engine)
    before = rows(arena.engine)
    rater.advance(arena.engine)
    assert rows(arena.engine) == before


def test_a_web_server_waits_while_another_process_may_be_fitting(arena: SimulatedArena) -> None:
    engine, fits = arena.engine, schema.ladder_fits
    begin(arena)
    rater.advance(engine)
    arena.wave(2)
    before = rows(engine)
    with database.writing(engine) as connection:
        connection.execute(update(schema.closings).values(at=schema.closings.c.at - 10))
        connection.execute(update(fits).values(seconds=20))
    rater.advance_if_behind(engine, 3.0)
    assert rows(engine) == before
    with database.writing(engine) as connection:
        connection.execute(update(fits).values(seconds=0))
    rater.advance_if_behind(engine, 3.0)
    assert rows(engine) != before


def test_an_idle_rating_service_reads_no_tournaments(arena: SimulatedArena) -> None:
    begin(arena)
    service, seen = RatingService(arena.engine), []
    for key in keys(arena.engine):
        rater.advance(arena.engine, key)
    service.run_round()

    @event.listens_for(arena.engine, "before_cursor_execute")
    def note(*of_statement: Any) -> None:
        seen.append(of_statement[2])

    service.run_round()
    assert not [statement for statement in seen if "tournaments" in statement]
    arena.wave(1)
    seen.clear()
    service.run_round()
    assert [statement for statement in seen if "tournaments" in statement]
    event.remove(arena.engine, "before_cursor_execute", note)


def test_a_ladder_that_cannot_be_fitted_does_not_stop_the_others(
    arena: SimulatedArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(arena)
    fit_of_all, points_of_all = standings.fitted_standings, fit.values

    def diverge(meetings: Meetings) -> None:
        if any(len(line_up.entrants) == 2 for line_up in meetings.sums):
            raise ArithmeticError

    def fitted(meetings: Meetings, *rest: Any) -> FittedStandings:
        diverge(meetings)
        return fit_of_all(meetings, *rest)

    def values(meetings: Meetings, *rest: Any) -> dict[str, tuple[float, float]]:
        diverge(meetings)
        return points_of_all(meetings, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(rater, "fitted_standings", fitted)
        patch.setattr(fit, "values", values)
        while arena.wave():
            rater.advance(arena.engine)
        poke, saint_poker = ladder_key.of_seasons(arena.engine)
        assert ladder_rows.read_ladder(arena.engine, saint_poker).table.matches > 0
        assert ladder_rows.read_ladder(arena.engine, poke).table.matches == 0
    assert_equals_the_games(arena.engine)


def test_sums_of_more_entrants_than_a_statement_can_bind_are_changed(
    arena: SimulatedArena,
) -> None:
    names = [f"bot{number}@1" for number in range(1200)]
    changes = result_sums._Changes({}, {name: EntrantSums() for name in names}, {}, subtracts=True)
    with database.writing(arena.engine) as connection:
        driver = connection.connection.driver_connection
        if isinstance(driver, sqlite3.Connection):
            driver.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 1000)
        result_sums._change_entrants(connection, "t-1", changes)
        counted = select(func.count()).select_from(schema.entrant_sums)
        assert connection.execute(counted).scalar_one() == 0

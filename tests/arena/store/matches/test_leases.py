"""Leases: only the holder of a match's lease can change the match."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import Engine, func, select, update

from arena.errors import Conflict, LeaseLost, NotFound
from arena.matches import lease_renewal
from arena.store import database, schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.matches import corrections, lease_times, listing, match_leases, results
from arena.store.matches.match_leases import FAILURES_TO_VOID, ArenaFault, Lease
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from referee.games.contract import SetupError
from tests.arena.store.played_matches import commit, leased, play
from tests.arena.store.query_plans import query_plans
from tests.arena.store.store_contender import played_game
from tests.errors import has_code

Schedule = Callable[..., Tournament]
Lapse = Callable[[str], None]
Start = Callable[..., "subprocess.Popen[str]"]
SQLITE = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def finish(store: Engine, lease: Lease) -> None:
    done = {game.game for game in lease.committed}
    for number in range(lease.spec.games):
        if number not in done:
            commit(store, lease, number)


def committed(store: Engine, match: str) -> list[tuple[int, int]]:
    """Return the committed games of a match, with the attempts that played them."""
    games = schema.games
    query = select(games.c.game, games.c.attempt).where(games.c.match == match)
    with database.reading(store) as connection:
        return [(row.game, row.attempt) for row in connection.execute(query.order_by(games.c.game))]


@SQLITE
def test_due_matches_are_found_without_reading_the_entrants_of_closed_matches(
    store: Engine,
) -> None:
    *_, (_, plan) = query_plans(store, lambda: match_leases.due(store), "")
    read = [step for step in plan if "matches" in step or "match_entrants" in step]
    assert len(read) == 2
    assert all(step.startswith("SEARCH") for step in read)


def test_a_lease_contains_the_match_specification(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(boards=3)
    lease = leased(store, owner="worker-1")
    assert (lease.owner, lease.attempt, lease.committed) == ("worker-1", 1, ())
    spec = lease.spec
    assert (spec.id, spec.tournament, spec.round, spec.number) == (lease.match, tournament.id, 0, 0)
    assert (spec.game, spec.options, spec.seats) == ("poke", {"must_beat": True}, 2)
    assert (spec.boards, spec.games, spec.clock) == (3, 6, tournament.plan.clock)
    assert spec.versions == ("bot0@1", "bot1@1")
    assert [entrant.folder for entrant in spec.entrants] == ["/bots/0", "/bots/1"]
    assert [entrant.content_hash for entrant in spec.entrants] == [f"{0:064x}", f"{1:064x}"]
    assert [entrant.manifest for entrant in spec.entrants] == [{"run": ["x"]}] * 2


def test_a_leased_match_cannot_be_leased_again(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = leased(store)
    assert match_leases.due(store) == ()
    assert match_leases.lease(store, lease.match, "another") is None
    assert listing.find_match(store, lease.match).owner == "worker"


def test_a_machine_without_the_game_does_not_lease_a_match(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    with database.writing(store, "test") as connection:
        connection.execute(update(schema.tournaments).values(game="race"))
    [match] = match_leases.due(store)
    with pytest.raises(SetupError):
        match_leases.lease(store, match, "w1")
    assert match_leases.due(store) == (match,)


def test_leasing_an_unknown_match_returns_nothing(store: Engine) -> None:
    assert match_leases.lease(store, "m-none", "worker") is None


def test_tournaments_take_turns_in_the_list_of_due_matches(
    store: Engine, schedule: Schedule
) -> None:
    tournaments = schedule(3), schedule(3)
    first, second = (
        [m.id for m in listing.matches(store, tournament=tournament.id)]
        for tournament in tournaments
    )
    expected = [first[0], second[0], first[1], second[1], first[2], second[2]]
    assert list(match_leases.due(store)) == expected
    assert list(match_leases.due(store, limit=4)) == expected[:4]
    leased(store, first[0])
    assert list(match_leases.due(store)) == [first[1], second[0], first[2], *second[1:]]


def test_begun_matches_precede_challenges_and_these_all_others(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(3)
    ids = [match.id for match in listing.matches(store, tournament=tournament.id)]
    plan = replace(tournament.plan, format="challenge", settings={})
    challenge = scheduler.begin(store, plan, ["bot0@1", "bot1@1"])
    (challenged,) = listing.matches(store, tournament=challenge.id)
    # The organiser of a large unrated tournament does not get priority for it.
    unrated = scheduler.begin(store, plan, [f"bot{number}@1" for number in range(3)])
    others = [match.id for match in listing.matches(store, tournament=unrated.id)]
    match_leases.release(store, leased(store, ids[1]))
    due = match_leases.due_by_urgency(store)
    assert due.urgent == (ids[1], challenged.id)
    assert due.others == (ids[0], others[0], ids[2], *others[1:])


def test_a_due_match_of_a_ladder_follows_three_others(store: Engine, schedule: Schedule) -> None:
    cup = schedule(2, cycles=7)
    plan = replace(cup.plan, format="ladder", settings={"batch": 4})
    ladder = scheduler.begin(store, plan, ["bot0@1", "bot1@1"])
    of_cup, of_ladder = (
        [match.id for match in listing.matches(store, tournament=each.id)] for each in (cup, ladder)
    )
    expected = [
        *(*of_cup[:3], of_ladder[0]),
        *(*of_cup[3:6], of_ladder[1]),
        *(of_cup[6], *of_ladder[2:]),
    ]
    assert list(match_leases.due(store)) == expected
    assert list(match_leases.due(store, limit=6)) == expected[:6]


def test_one_of_many_threads_gets_the_lease(store: Engine, schedule: Schedule) -> None:
    schedule()
    (match,) = match_leases.due(store)
    together = Barrier(8)

    def race(owner: str) -> Lease | None:
        together.wait()
        return match_leases.lease(store, match, owner)

    with ThreadPoolExecutor(8) as pool:
        leases = [lease for lease in pool.map(race, "abcdefgh") if lease is not None]
    assert [lease.attempt for lease in leases] == [1]
    assert listing.find_match(store, match).owner == leases[0].owner


@pytest.mark.long
def test_each_match_is_leased_by_one_of_several_processes(
    store: Engine, schedule: Schedule, contend: Start
) -> None:
    tournament = schedule(7)
    processes = [contend("work", f"worker-{number}") for number in range(3)]
    taken: Counter[str] = Counter()
    for process in processes:
        output, errors = process.communicate()
        assert (errors, process.returncode) == ("", 0)
        taken.update(re.findall("took (.+)", output))
    assert taken == {match.id: 1 for match in listing.matches(store, tournament=tournament.id)}
    assert len(taken) == 21
    assert len(list(results.closed(store, [tournament.id]))) == 21


def test_a_valid_lease_can_be_renewed(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = match_leases.lease(store, match_leases.due(store)[0], "worker", seconds=100)
    assert lease is not None
    until = select(schema.matches.c.lease_until - database.now())
    with database.reading(store) as connection:
        assert 0 < connection.execute(until).scalar_one() <= 100
    assert match_leases.renew(store, replace(lease, seconds=1000))
    with database.reading(store) as connection:
        assert 100 < connection.execute(until).scalar_one() <= 1000


def test_the_leases_of_a_dead_worker_alone_end_at_once(store: Engine, schedule: Schedule) -> None:
    schedule(bots=3)
    first, second, _ = match_leases.due(store)
    dead, living = leased(store, first, "dead"), leased(store, second, "living")
    assert match_leases.end_leases(store, "dead") == 1
    assert not match_leases.renew(store, dead)
    assert match_leases.renew(store, living)
    assert first in match_leases.due(store)
    assert second not in match_leases.due(store)


def test_a_lease_outlasts_two_missed_renewals(store: Engine, schedule: Schedule) -> None:
    schedule()
    assert leased(store).seconds == 15.0
    assert (lease_renewal.RENEW_SECONDS, lease_renewal.GRACE_SECONDS) == (5.0, 3.0)
    assert (database.LONGEST_LEASE_SECONDS, lease_times.LONGEST_PAUSE_SECONDS) == (600.0, 120.0)


def test_an_expired_lease_is_lost_before_it_is_taken_over(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    schedule()
    lease = leased(store)
    lapse(lease.match)
    assert not match_leases.renew(store, lease)
    with pytest.raises(LeaseLost, check=has_code("expired")):
        commit(store, lease, 0)
    assert match_leases.due(store) == (lease.match,)
    assert committed(store, lease.match) == []


def test_a_takeover_fences_off_the_previous_worker(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    schedule()
    old = leased(store, owner="old")
    commit(store, old, 0)
    lapse(old.match)
    new = leased(store, old.match, owner="new")
    assert new.attempt == 2
    assert [game.game for game in new.committed] == [0]
    with pytest.raises(LeaseLost, check=has_code("other-attempt")):
        commit(store, old, 1)
    assert not match_leases.renew(store, old)
    match_leases.release(store, old, ArenaFault("I know nothing of the new one."))
    match = listing.find_match(store, old.match)
    assert (match.state, match.owner) == (MatchState.RUNNING, "new")
    assert (match.failures, match.reason) == (1, "the worker old that had it was lost")
    finish(store, new)
    assert committed(store, old.match) == [(0, 1), (1, 2)]


def test_a_takeover_keeps_used_banks_and_faults(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    schedule()
    first = leased(store)
    commit(store, first, 0, fault="crash")
    lapse(first.match)
    (game,) = leased(store).committed
    assert (game.game, game.table, game.board) == (0, 0, 0)
    assert game.tally["faults"] == [0, 1]


def test_the_last_game_closes_the_match(store: Engine, schedule: Schedule) -> None:
    schedule(boards=2)
    lease = leased(store)
    # Games may finish in any order.
    ends = [commit(store, lease, number) for number in (2, 0, 3, 1)]
    assert ends == [False, False, False, True]
    match = listing.find_match(store, lease.match)
    assert (match.state, match.committed, match.owner) == (MatchState.CLOSED, 4, None)
    assert match.ended is not None
    with pytest.raises(LeaseLost, check=has_code("match-over")):
        commit(store, lease, 1)
    assert not match_leases.renew(store, lease)
    match_leases.release(store, lease, ArenaFault("too late"))
    assert listing.find_match(store, lease.match) == match
    assert match_leases.lease(store, lease.match, "another") is None
    with database.reading(store) as connection:
        count = select(func.count()).select_from(schema.results)
        assert connection.execute(count).scalar_one() == 1


def test_a_game_is_committed_once(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = leased(store)
    commit(store, lease, 0)
    with pytest.raises(Conflict, check=has_code("game-committed")):
        commit(store, lease, 0)
    assert committed(store, lease.match) == [(0, 1)]


def test_a_game_of_another_match_is_refused(store: Engine, schedule: Schedule) -> None:
    schedule(boards=2)
    lease = leased(store)
    game = played_game(lease.spec, 0)
    for wrong in (replace(game, game=4, table=2), replace(game, game=1), replace(game, board=-1)):
        with pytest.raises(ValueError, check=has_code("other-match")):
            match_leases.commit_game(store, lease, wrong)
    alone = replace(game, places=(1,), scores=None, verdicts=("finished",), faults=(0,))
    with pytest.raises(ValueError, check=has_code("entrant-missing")):
        match_leases.commit_game(store, lease, alone)
    assert committed(store, lease.match) == []


def test_a_released_match_is_due_at_once_and_has_no_failure(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    lease = leased(store)
    commit(store, lease, 0)
    match_leases.release(store, lease)
    assert match_leases.due(store) == (lease.match,)
    assert listing.find_match(store, lease.match).failures == 0
    with pytest.raises(LeaseLost, check=has_code("given-back")):
        commit(store, lease, 1)
    again = leased(store)
    assert (again.attempt, [game.game for game in again.committed]) == (2, [0])


def pass_time(store: Engine, match: str, seconds: float) -> None:
    """Move the failures of a match and the end of its pause into the past."""
    table, failures = schema.matches, schema.failures
    with database.writing(store) as connection:
        connection.execute(
            update(table).where(table.c.id == match).values(retry_at=table.c.retry_at - seconds)
        )
        connection.execute(
            update(failures).where(failures.c.match == match).values(at=failures.c.at - seconds)
        )


def fail(store: Engine, machine: str = "first", counts: bool = True, wait: float = 130) -> str:
    """Let the arena fail in an attempt, and return the match's state after the pause."""
    lease = leased(store)
    reason = f"Failure {lease.attempt}.\n[Errno 11] no ids"
    match_leases.release(store, lease, ArenaFault(reason, machine, counts))
    pass_time(store, lease.match, wait)
    return listing.find_match(store, lease.match).state


def test_failures_on_two_machines_make_a_match_void(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = leased(store)
    match_leases.release(store, lease)
    states = [fail(store), fail(store), fail(store), fail(store, "second")]
    assert states == [MatchState.PENDING] * 3 + [MatchState.VOID]
    match = listing.find_match(store, lease.match)
    # The details are for the organiser.
    assert (match.reason, match.failures) == ("Failure 5.", 4)
    assert [failure.reason for failure in listing.failures_of(store, match.id)] == [
        f"Failure {number}.\n[Errno 11] no ids" for number in range(2, 6)
    ]
    assert match_leases.due(store) == ()
    assert list(results.closed(store)) == []
    with pytest.raises(LeaseLost, check=has_code("match-over")):
        commit(store, lease, 0)


def test_a_failure_after_a_committed_game_of_the_attempt_does_not_count(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    lease = leased(store)
    commit(store, lease, 0)
    match_leases.release(store, lease, ArenaFault("Failure 1.", "first"))
    pass_time(store, lease.match, 130)
    states = [fail(store, machine) for machine in ("second", "first", "second")]
    assert states == [MatchState.PENDING, MatchState.PENDING, MatchState.VOID]


def test_failures_on_one_machine_make_a_match_void_after_ten_minutes(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    states = [fail(store, wait=190), fail(store, wait=190), fail(store, wait=190), fail(store)]
    # Before the third failure 380 s have passed, before the fourth 570, before the fifth 760.
    assert states == [MatchState.PENDING] * 4
    assert fail(store) == MatchState.VOID


def test_lost_workers_and_killed_processes_do_not_make_a_match_void(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    schedule()
    for number in range(FAILURES_TO_VOID):
        lapse(leased(store, owner=f"worker-{number}").match)
        assert fail(store, f"machine-{number}", counts=False) == MatchState.PENDING
    match = listing.find_match(store, match_leases.due(store)[0])
    assert (match.failures, match.retry_at) == (2 * FAILURES_TO_VOID, None)


def test_a_match_pauses_longer_after_each_failure(store: Engine, schedule: Schedule) -> None:
    schedule()
    pauses = []
    for _ in range(9):
        fail(store, wait=0)
        [match] = listing.matches(store)
        assert match.retry_at is not None
        with database.reading(store) as connection:
            failed = connection.execute(select(func.max(schema.failures.c.at))).scalar_one()
        pauses.append(round(match.retry_at - failed))
        # On a busy machine a pause of a second could be over before it is looked at.
        with database.writing(store) as connection:
            connection.execute(update(schema.matches).values(retry_at=database.now() + 100))
        [match] = listing.matches(store)
        assert match_leases.due(store) == ()
        assert match_leases.lease(store, match.id, "worker") is None
        assert listing.first_paused(store, match.tournament) == match
        assert "next attempt at" in listing.waiting_reason(match)
        with database.writing(store) as connection:
            connection.execute(update(schema.matches).values(retry_at=0))
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 120, 120]


def test_an_organiser_voids_a_pausing_match_at_once(store: Engine, schedule: Schedule) -> None:
    schedule()
    fail(store, wait=0)
    [match] = listing.matches(store)
    corrections.void(store, match.id, COMMAND_LINE, "the machine is gone")
    assert listing.find_match(store, match.id).state is MatchState.VOID


@pytest.mark.parametrize("column", ["lease_until", "leased"])
def test_times_of_a_clock_that_was_ahead_do_not_hold_a_match(
    store: Engine, schedule: Schedule, column: str
) -> None:
    schedule()
    lease = leased(store)
    with database.writing(store) as connection:
        connection.execute(update(schema.matches).values({column: database.now() + 86400}))
    assert match_leases.due(store) == (lease.match,)
    again = leased(store)
    assert again.attempt == 2
    match_leases.release(store, again)
    with database.writing(store) as connection:
        connection.execute(update(schema.matches).values(retry_at=database.now() + 86400))
    assert match_leases.due(store) == (lease.match,)


def test_a_match_can_be_voided_with_a_reason(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = leased(store)
    assert match_leases.void(store, lease.match, "The files of bot1@1 are gone.")
    match = listing.find_match(store, lease.match)
    assert (match.state, match.reason) == (MatchState.VOID, "The files of bot1@1 are gone.")
    assert not match_leases.renew(store, lease)
    with pytest.raises(LeaseLost, check=has_code("match-over")):
        commit(store, lease, 0)


def test_a_closed_match_cannot_be_voided(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = play(store)
    assert not match_leases.void(store, lease.match, "I do not like the result.")
    assert listing.find_match(store, lease.match).state is MatchState.CLOSED
    with pytest.raises(NotFound, check=has_code("unknown-match")):
        match_leases.void(store, "m-none", "Why not.")


def test_workers_that_finish_at_once_all_close_their_matches(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(4)
    leases = [leased(store) for _ in range(6)]
    for lease in leases:
        commit(store, lease, 0)
    together = Barrier(len(leases))

    def finish_together(lease: Lease) -> bool:
        together.wait()
        return commit(store, lease, 1)

    with ThreadPoolExecutor(len(leases)) as pool:
        assert list(pool.map(finish_together, leases)) == [True] * 6
    assert len(list(results.closed(store, [tournament.id]))) == 6

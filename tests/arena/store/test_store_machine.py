"""Random sequences of events around the leases of two matches, compared with a model."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    invariant,
    multiple,
    precondition,
    rule,
)
from sqlalchemy import Engine, update

from arena.errors import Conflict, LeaseLost
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.matches import listing, match_leases, results
from arena.store.matches.match_leases import FAILURES_TO_VOID, ArenaFault, Lease
from arena.store.schema import OPEN, MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.store.store_contender import played_game

PENDING, RUNNING = MatchState.PENDING, MatchState.RUNNING
BOARDS = 1


@dataclass
class Model:
    state: MatchState = PENDING
    attempt: int = 0
    failures: int = 0
    lapsed: bool = False
    failed_attempts: list[int] = field(default_factory=list)
    games: dict[int, int] = field(default_factory=dict)
    """The attempt that committed each game."""

    def held_by(self, attempt: int) -> bool:
        return self.newest(attempt) and not self.lapsed

    def newest(self, attempt: int) -> bool:
        return self.state is RUNNING and self.attempt == attempt

    def fail(self) -> bool:
        self.failures += 1
        self.failed_attempts.append(self.attempt)
        progress = max(self.games.values(), default=0)
        in_a_row = [attempt for attempt in self.failed_attempts if attempt > progress]
        if len(in_a_row) == FAILURES_TO_VOID:
            self.state = MatchState.VOID
        return self.state is MatchState.VOID


class Leases(RuleBasedStateMachine):
    leases: Bundle[Lease] = Bundle("leases")
    which = st.integers(0, 1)

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pokearena-machine-"))
        self.store: Engine = database.open(f"sqlite:///{self.folder}/arena.db")
        database.upgrade(self.store)
        for name in "ab":
            versions.add_version(self.store, name, "1", name, f"/{name}", {})
        plan = poke_plan(options={}, boards=BOARDS, settings={"cycles": 2})
        cup = scheduler.begin(self.store, plan, ["a@1", "b@1"])
        self.scheduler = Scheduler(self.store)
        self.cup = cup.id
        self.cup_state = TournamentState.RUNNING
        self.ids = match_leases.due(self.store)
        self.model = [Model(), Model()]

    def teardown(self) -> None:
        self.store.dispose()
        shutil.rmtree(self.folder)

    def of(self, lease: Lease) -> Model:
        return self.model[self.ids.index(lease.match)]

    def settle(self) -> None:
        assert self.scheduler.advance() == 0
        over = all(match.state not in OPEN for match in self.model)
        if over and self.cup_state is not TournamentState.CANCELLED:
            self.cup_state = TournamentState.CLOSED

    def is_due(self, match: Model) -> bool:
        free = match.state is PENDING or (match.state is RUNNING and match.lapsed)
        return free and self.cup_state in (TournamentState.RUNNING, TournamentState.CANCELLED)

    @rule(target=leases, which=which)
    def lease(self, which: int) -> Lease | MultipleResults[Lease]:
        match = self.model[which]
        due = self.is_due(match)
        lease = match_leases.lease(self.store, self.ids[which], "worker", seconds=600)
        if due and self.cup_state is TournamentState.CANCELLED:
            match.state = MatchState.CANCELLED
            due = False
        elif due and match.state is RUNNING:
            match.failures += 1
        self.settle()
        if not due:
            assert lease is None
            return multiple()
        match.state, match.attempt, match.lapsed = RUNNING, match.attempt + 1, False
        assert lease is not None
        assert lease.attempt == match.attempt
        assert [game.game for game in lease.committed] == sorted(match.games)
        return lease

    @rule(which=which)
    def let_lapse(self, which: int) -> None:
        table = schema.matches
        self.model[which].lapsed = True
        with database.writing(self.store) as connection:
            connection.execute(
                update(table)
                .where(table.c.id == self.ids[which], table.c.state == RUNNING)
                .values(lease_until=database.now() - 1)
            )

    @rule(lease=leases)
    def renew(self, lease: Lease) -> None:
        assert match_leases.renew(self.store, lease) == self.of(lease).held_by(lease.attempt)

    @rule(lease=leases, game=st.integers(0, 2 * BOARDS - 1))
    def commit(self, lease: Lease, game: int) -> None:
        match = self.of(lease)
        try:
            closed = match_leases.commit_game(self.store, lease, played_game(lease.spec, game))
        except LeaseLost:
            assert not match.held_by(lease.attempt)
            return
        except Conflict:
            assert match.held_by(lease.attempt)
            assert game in match.games
            return
        assert match.held_by(lease.attempt)
        assert game not in match.games
        match.games[game] = lease.attempt
        assert closed == (len(match.games) == 2 * BOARDS)
        if closed:
            match.state = MatchState.CLOSED
            self.settle()

    @rule(lease=leases, reason=st.sampled_from([None, "The referee was lost."]))
    def release(self, lease: Lease, reason: str | None) -> None:
        match = self.of(lease)
        fault = None if reason is None else ArenaFault(reason, f"machine-{lease.attempt}")
        match_leases.release(self.store, lease, fault)
        with database.writing(self.store) as connection:
            connection.execute(update(schema.matches).values(retry_at=None))
        if not match.newest(lease.attempt) or (reason is not None and match.fail()):
            self.settle()
        elif self.cup_state is TournamentState.CANCELLED:
            match.state = MatchState.CANCELLED
        else:
            match.state = PENDING

    @rule(which=which, sure=st.integers(0, 2))
    def void(self, which: int, sure: int) -> None:
        if sure == 0:
            match = self.model[which]
            assert match_leases.void(self.store, self.ids[which], "Because.") == (
                match.state in OPEN
            )
            if match.state in OPEN:
                match.state = MatchState.VOID
            self.settle()

    @precondition(lambda self: self.cup_state is TournamentState.RUNNING)
    @rule()
    def pause(self) -> None:
        lifecycle.pause(self.store, self.cup)
        self.cup_state = TournamentState.PAUSED

    @precondition(lambda self: self.cup_state is TournamentState.PAUSED)
    @rule()
    def resume(self) -> None:
        lifecycle.resume(self.store, self.cup)
        self.cup_state = TournamentState.RUNNING

    @precondition(lambda self: self.cup_state in (TournamentState.RUNNING, TournamentState.PAUSED))
    @rule(sure=st.integers(0, 2))
    def cancel(self, sure: int) -> None:
        if sure == 0:
            lifecycle.cancel(self.store, self.cup)
            self.cup_state = TournamentState.CANCELLED
            for match in self.model:
                if match.state is PENDING:
                    match.state = MatchState.CANCELLED

    @invariant()
    def the_store_says_what_the_model_says(self) -> None:
        matches = listing.matches(self.store)
        assert [(match.state, match.attempt, match.failures) for match in matches] == [
            (match.state, match.attempt, match.failures) for match in self.model
        ]
        assert [match.committed for match in matches] == [len(match.games) for match in self.model]
        assert tournaments.find_tournament(self.store, self.cup).state is self.cup_state

    @invariant()
    def what_nobody_has_is_due(self) -> None:
        due = [pair for pair in zip(self.model, self.ids, strict=True) if self.is_due(pair[0])]
        begun_first = sorted(due, key=lambda pair: pair[0].attempt == 0)
        assert list(match_leases.due(self.store)) == [name for _, name in begun_first]

    @invariant()
    def closed_matches_and_no_others_have_a_result_of_all_their_games(self) -> None:
        games = {match.id: len(match.games) for match in results.closed(self.store)}
        assert games == {
            name: 2 * BOARDS
            for name, match in zip(self.ids, self.model, strict=True)
            if match.state is MatchState.CLOSED
        }
        assert tournaments.progress(self.store, self.cup).closed == len(games)


TestLeases = Leases.TestCase
TestLeases.settings = settings(
    max_examples=settings().max_examples // 3,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

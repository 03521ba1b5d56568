"""Simulate a season of ladders: the real store and scheduler, with workers as events.

Time is virtual (SimPy). The store reads it as its clock, so leases lapse in virtual time. Real are
the store, the sweeper with its scheduler and formats, the match queue in Redis, and the sums of
ladders. Simulated are the processes of workers, the time that games take, and their results.

A seeded plan decides what fails. Failures of attempts depend on the place of the match and the
number of the attempt, lost and doubled jobs on the order of jobs, and restarts and losses of Redis
on virtual time. The results of games depend on none of these, so a season with failures plays the
same games as one without:

- A worker crashes while it plays. Its supervisor reports half of the crashes; the leases of the
  others lapse.
- A worker freezes for longer than its lease and continues then.
- An attempt ends with a failure of the arena, or because its worker is stopped.
- A job is lost after a worker has taken it, is in the queue twice, or Redis loses its data.
- A sweeper restarts, without anything that it had read.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
import tempfile
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import simpy
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import event, insert

from arena.config import Folder
from arena.errors import LeaseLost
from arena.events.messages import Event, MatchClosed
from arena.ladders.ladder_sums import LadderSums
from arena.matches.lease_renewal import RENEW_SECONDS
from arena.presentation.registry import presentation_of
from arena.queue import redis_server
from arena.queue.match_queue import QUEUE, MatchQueue
from arena.queue.sweeper import PAUSE_SECONDS, Sweeper
from arena.queue.worker import MatchJob
from arena.ratings.closed_match import FINISHED
from arena.store import database, schema, sqlite
from arena.store.match_settings import TournamentPlan
from arena.store.matches import transitions
from arena.store.matches.games import PlayedGame
from arena.store.matches.transitions import Lease
from arena.store.tournaments import tournaments
from arena.system.process_log import ProcessLog
from arena.system.redis_connection import connect
from arena.tournaments import scheduler
from referee.games.registry import find

if TYPE_CHECKING:
    from redis import Redis
    from sqlalchemy import Engine

GAME: Final = "poke"
START: Final = 1_800_000_000.0
"""Time of the store's clock at the start, in seconds since 1970."""
READ_SECONDS: Final = 15.0
"""Longest pause between two reads of a ladder by the web server (arena.web.data.web_state)."""
_SWEEPERS: Final = 2
_FROZEN_SECONDS: Final = 40.0
_RESTART_SECONDS: Final = 5.0
_SPREAD_ELO: Final = 200.0

Steps = Generator[simpy.Event, Any, None]


@dataclass(frozen=True, slots=True)
class Failures:
    """Rates of failures; each is decided by a seeded plan.

    Attributes:
        crash: share of attempts whose worker crashes.
        freeze: share of attempts whose worker freezes for longer than its lease.
        error: share of attempts that a failure of the arena ends.
        drain: share of attempts that end because their worker is stopped.
        lost_job: share of jobs that are lost after they were taken.
        doubled_job: share of jobs that are put into the queue twice.
        restart_seconds: mean time between two restarts of a sweeper; 0: none.
        redis_seconds: mean time between two losses of all data in Redis; 0: none.
    """

    crash: float = 0.01
    freeze: float = 0.003
    error: float = 0.003
    drain: float = 0.003
    lost_job: float = 0.005
    doubled_job: float = 0.01
    restart_seconds: float = 300.0
    redis_seconds: float = 600.0


NO_FAILURES: Final = Failures(0, 0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SeasonPlan:
    """The size and the seed of a season.

    Attributes:
        bots: number of bots; a small ladder has a twentieth of them, the large one has all.
        matches: number of matches of both ladders together, of one board (two games) each.
        workers: number of workers.
        seed: seed of strengths, results, times and failures.
        game_seconds: mean time of a game; half to one and a half times this.
        failures: rates of failures.
        charge: virtual seconds for each second that a sweep or a read of a ladder takes on this
            machine. 0: they take no virtual time.
    """

    bots: int = 10_000
    matches: int = 100_000
    workers: int = 1_000
    seed: int = 1
    game_seconds: float = 5.0
    failures: Failures = field(default_factory=Failures)
    charge: float = 0.0

    @property
    def ladders(self) -> dict[str, tuple[int, int]]:
        """The number of bots and of matches of each ladder."""
        small = max(self.bots // 20, 4), max(self.matches // 20, 10)
        return {"large": (self.bots, self.matches - small[1]), "small": small}

    @property
    def match_seconds(self) -> float:
        """Mean time of a match, in seconds."""
        return 2 * self.game_seconds


class StoreAccess:
    """The calls by which simulated workers and readers use the store; tests plant defects here.

    Args:
        engine: the store.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def lease(self, match: str, worker: str) -> Lease | None:
        """Lease a match."""
        return transitions.lease(self.engine, match, worker)

    def renew(self, lease: Lease) -> bool:
        """Renew a lease."""
        return transitions.renew(self.engine, lease)

    def commit_game(self, lease: Lease, game: PlayedGame) -> bool:
        """Commit a game."""
        return transitions.commit_game(self.engine, lease, game)

    def release(self, lease: Lease, reason: str | None) -> None:
        """Release a lease."""
        fault = None if reason is None else transitions.ArenaFault(reason, "simulated")
        transitions.release(self.engine, lease, fault)

    def read(self, ladder: LadderSums) -> int:
        """Update the sums of a ladder, and return the number of matches in them."""
        ladder.now()
        return ladder.folded


@dataclass(slots=True)
class Attempt:
    """An attempt at a match as its worker sees it; times are virtual."""

    lease: Lease
    begun: float
    held_until: float
    ended: bool = False


@dataclass(slots=True)
class Observations:
    """What happened in a season, recorded outside of the store; times are virtual seconds.

    Attributes:
        attempts: the attempts of each match, in order.
        commits: number of the attempt of each successful commit, by match and game.
        closings: times at which each match closed, by the events of the store.
        closed: the same times by ladder, in order.
        due: time at which each round was due, by ladder and round.
        reads: time of each publication of a ladder, and the number of matches in it.
        problems: violations that were seen when they happened, by invariant.
        statements: number of SQL statements by virtual second.
        events: number of caused failures, refused leases and refused writes, by kind.
        longest_sweep: longest sweep, in seconds of this machine.
        ended: the time at which the season ended.
        seconds: elapsed time of the simulation, in seconds of this machine.
        cpu_seconds: processor time of this process, without that of Redis.
    """

    attempts: dict[str, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    commits: dict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    closings: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    closed: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    due: dict[tuple[str, int], float] = field(default_factory=dict)
    reads: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    statements: Counter[int] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    longest_sweep: float = 0.0
    ended: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Season:
    """A simulated season.

    Args:
        plan: its size and seed.
        engine: an empty store, whose clock this season sets.
        connection: an empty Redis.
        access: creates the calls of workers and readers.
        progress: is called with the number of closed matches from time to time.
    """

    def __init__(
        self,
        plan: SeasonPlan,
        engine: Engine,
        connection: Redis,
        access: Callable[[Engine], StoreAccess] = StoreAccess,
        progress: Callable[[int, float], None] = lambda *_: None,
    ) -> None:
        self.plan = plan
        self.engine = engine
        self.seen = Observations()
        self.ladders: dict[str, str] = {}
        self.readers: dict[str, LadderSums] = {}
        self._names: dict[str, str] = {}
        self._connection = connection
        self._access = access(engine)
        self._progress = progress
        self._env = simpy.Environment()
        self._jobs = MatchQueue(connection)
        self._queue = Queue(
            QUEUE, connection=connection, serializer=JSONSerializer, job_class=MatchJob
        )
        self._idle: deque[simpy.Event] = deque()
        self._jobs_taken = itertools.count()
        self._sweepers = [self._sweeper() for _ in range(_SWEEPERS)]
        self._over = self._env.event()
        self._busy = 0

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return float(self._env.now)

    def run(self) -> Observations:
        """Play the season until its tournaments are over, or until nothing can end it any more."""
        began, cpu_began = time.perf_counter(), time.process_time()
        with self._virtual_clock(), database.listening(self.engine, self._note_event):
            self._create()
            for place in range(self.plan.workers):
                self._env.process(self._worker(f"w{place}"))
            for place in range(_SWEEPERS):
                self._env.process(self._sweep(place))
            for name, ladder in self.readers.items():
                self._env.process(self._reader(name, ladder))
            self._env.process(self._restarts())
            self._env.process(self._redis_losses())
            limit = self._env.timeout(self._longest())
            self._env.run(until=self._env.any_of([self._over, limit]))
        self.seen.ended = self.now
        self.seen.seconds = time.perf_counter() - began
        self.seen.cpu_seconds = time.process_time() - cpu_began
        return self.seen

    def _longest(self) -> float:
        """Return the virtual time after which a season counts as stuck."""
        work = self.plan.matches * self.plan.match_seconds / self.plan.workers
        return 3 * work + 300

    @contextmanager
    def _virtual_clock(self) -> Iterator[None]:
        """Make the store read the virtual time, and count its statements.

        The pragma saves an fsync for each commit. A crash of this machine ends the simulation, so
        nothing depends on the data being on disk.
        """

        environment = self._env

        def prepare(connection: Any, entry: object) -> None:
            connection.execute("PRAGMA synchronous = OFF")
            connection.create_function(sqlite.CLOCK, 0, lambda: START + environment.now)

        def count(*_: object) -> None:
            self.seen.statements[int(environment.now)] += 1

        self.engine.dispose()
        event.listen(self.engine, "connect", prepare)
        event.listen(self.engine, "before_cursor_execute", count)
        try:
            yield
        finally:
            event.remove(self.engine, "connect", prepare)
            event.remove(self.engine, "before_cursor_execute", count)
            self.engine.dispose()

    def _create(self) -> None:
        """Create the bots and the ladders."""
        names = [f"b{place:05}@1" for place in range(self.plan.bots)]
        with database.writing(self.engine) as connection:
            bots = [{"name": name.partition("@")[0], "created": START} for name in names]
            connection.execute(insert(schema.bots), bots)
            values = {"number": "1", "folder": "/", "manifest": {}, "created": START}
            versions = [
                {"id": f"{bot['name']}@1", "name": bot["name"], "content_hash": f"{place:064x}"}
                | values
                for place, bot in enumerate(bots)
            ]
            connection.execute(insert(schema.versions), versions)
        options = find(GAME).settle({})
        for name, (bots_of_it, matches) in self.plan.ladders.items():
            settings = {"pairing": 3, "limit": matches}
            plan = TournamentPlan(
                name=name,
                game=GAME,
                options=options,
                seats=2,
                boards=1,
                format="ladder",
                settings=settings,
            )
            tournament = scheduler.begin(self.engine, plan, names[:bots_of_it])
            self.ladders[name] = tournament.id
            self.seen.due[name, 0] = self.now
            self._names[tournament.id] = name
            clip = presentation_of(GAME).clip
            self.readers[name] = LadderSums(self.engine, [tournament.id], clip)

    def _note_event(self, announced: Event) -> None:
        if isinstance(announced, MatchClosed):
            self.seen.closings[announced.match].append(self.now)
            self.seen.closed[self._names[announced.tournament]].append(self.now)
            closed = len(self.seen.closings)
            if closed % max(self.plan.matches // 20, 1) == 0:
                self._progress(closed, self.now)

    # Sweepers and readers.

    def _sweeper(self) -> Sweeper:
        return Sweeper(
            self.engine, self._connection, threading.Event(), clock=lambda: START + self.now
        )

    def _sweep(self, place: int) -> Steps:
        yield self._env.timeout(place * PAUSE_SECONDS / _SWEEPERS)
        while True:
            began = time.perf_counter()
            enqueued = self._sweepers[place].sweep()
            took = time.perf_counter() - began
            self.seen.longest_sweep = max(self.seen.longest_sweep, took)
            self._note_rounds()
            if enqueued:
                self._hand_out()
            elif not self._busy and not tournaments.listing(self.engine, over=False):
                self._over.succeed()
                return
            yield self._env.timeout(PAUSE_SECONDS + self.plan.charge * took)

    def _note_rounds(self) -> None:
        """Note the rounds that a sweep has added; this reading is not counted as load."""
        with closing(sqlite3.connect(str(self.engine.url.database))) as raw:
            for name, tournament in self.ladders.items():
                newest = "SELECT max(round) FROM matches WHERE tournament = ?"
                number = raw.execute(newest, (tournament,)).fetchone()[0]
                self.seen.due.setdefault((name, number), self.now)

    def _reader(self, name: str, ladder: LadderSums) -> Steps:
        """Read a ladder as the web server does."""
        while True:
            began = time.perf_counter()
            folded = self._access.read(ladder)
            charge = self.plan.charge * (time.perf_counter() - began)
            yield self._env.timeout(charge)
            self.seen.reads[name].append((self.now, folded))
            yield self._env.timeout(READ_SECONDS)

    def _restarts(self) -> Steps:
        dice = random.Random(f"{self.plan.seed}/restarts")
        while mean := self.plan.failures.restart_seconds:
            yield self._env.timeout(dice.expovariate(1 / mean))
            self._sweepers[dice.randrange(_SWEEPERS)] = self._sweeper()
            self.seen.events["sweeper restarted"] += 1

    def _redis_losses(self) -> Steps:
        dice = random.Random(f"{self.plan.seed}/redis")
        while mean := self.plan.failures.redis_seconds:
            yield self._env.timeout(dice.expovariate(1 / mean))
            self._connection.flushall()
            self.seen.events["Redis lost its data"] += 1

    # Workers.

    def _take(self) -> str | None:
        """Take the next job as RQ's worker does; None if there is none."""
        taken = Queue.dequeue_any(
            [self._queue],
            None,
            self._connection,
            job_class=MatchJob,
            serializer=JSONSerializer,
        )
        return None if taken is None else taken[0].id

    def _hand_out(self) -> None:
        """Give waiting jobs to idle workers, the longest idle first."""
        while self._idle:
            match = self._take()
            if match is None:
                return
            self._idle.popleft().succeed(match)

    def _worker(self, name: str) -> Steps:
        """Run a worker; after a crash it starts again under another name."""
        for life in range(10**9):
            worker = f"{name}-{life}"
            alive = True
            while alive:
                match = self._take()
                if match is None:
                    job = self._env.event()
                    self._idle.append(job)
                    match = yield job
                assert isinstance(match, str)
                self._busy += 1
                alive = yield from self._handle(match, worker)
                self._busy -= 1
            yield self._env.timeout(_RESTART_SECONDS)

    def _handle(self, match: str, worker: str) -> Generator[simpy.Event, Any, bool]:
        """Handle a job; return whether the worker is still alive."""
        failures = self.plan.failures
        dice = random.Random(f"{self.plan.seed}/job/{next(self._jobs_taken)}")
        if dice.random() < failures.lost_job:
            self.seen.events["job lost"] += 1
            return False
        self._connection.lrem(self._queue.intermediate_queue_key, 1, match)
        if dice.random() < failures.doubled_job:
            self.seen.events["job doubled"] += 1
            self._connection.rpush(self._queue.key, match)
        lease = self._access.lease(match, worker)
        alive = True
        if lease is None:
            self.seen.events["lease refused"] += 1
        else:
            alive = yield from self._attempt(lease, worker)
        if alive:
            self._jobs.remove(match)
        return alive

    def _attempt(self, lease: Lease, worker: str) -> Generator[simpy.Event, Any, bool]:
        attempts = self.seen.attempts[lease.match]
        if attempts and not attempts[-1].ended and attempts[-1].held_until > self.now:
            text = f"{lease.match}: attempt {lease.attempt} began while another held its lease"
            self.seen.problems["one worker at a time"].append(text)
        attempt = Attempt(lease, self.now, self.now + lease.seconds)
        attempts.append(attempt)
        spec = lease.spec
        place = f"{self.plan.seed}/{self._names[spec.tournament or '']}/{spec.round}/{spec.number}"
        dice = random.Random(f"{place}/{lease.attempt}")
        kind, share = self._failure(dice), dice.random()
        left = [game for game in range(spec.games) if game not in {g.game for g in lease.committed}]
        try:
            for index, game in enumerate(left):
                seconds = self.plan.game_seconds * dice.uniform(0.5, 1.5)
                if kind and int(share * len(left)) == index:
                    yield from self._play(attempt, seconds * dice.random())
                    yield from self._fail(kind, attempt, worker, dice)
                    if kind == "crash":
                        return False
                    if kind != "freeze":
                        return True
                yield from self._play(attempt, seconds)
                self._commit(attempt, _result(lease, game, place, self.plan.seed))
        except LeaseLost:
            self.seen.events["late write refused"] += 1
        attempt.ended = True
        return True

    def _failure(self, dice: random.Random) -> str:
        failures, point = self.plan.failures, dice.random()
        for kind in ("crash", "freeze", "error", "drain"):
            point -= getattr(failures, kind)
            if point < 0:
                return kind
        return ""

    def _fail(self, kind: str, attempt: Attempt, worker: str, dice: random.Random) -> Steps:
        self.seen.events[kind] += 1
        if kind == "freeze":
            yield self._env.timeout(_FROZEN_SECONDS)
            return
        attempt.ended = True
        if kind == "crash":
            if dice.random() < 0.5:
                self._sweepers[0].forget_worker(worker)
        else:
            reason = "the simulated referee failed." if kind == "error" else None
            self._access.release(attempt.lease, reason)

    def _play(self, attempt: Attempt, seconds: float) -> Steps:
        """Let time pass, and renew the lease meanwhile."""
        until = self.now + seconds
        while self.now < until:
            renewal = attempt.held_until - attempt.lease.seconds + RENEW_SECONDS
            if renewal >= until:
                yield self._env.timeout(until - self.now)
                return
            yield self._env.timeout(max(renewal - self.now, 0.0))
            if not self._access.renew(attempt.lease):
                raise LeaseLost("the lease was not renewed.", code="expired")
            attempt.held_until = self.now + attempt.lease.seconds

    def _commit(self, attempt: Attempt, game: PlayedGame) -> None:
        lease, problems = attempt.lease, self.seen.problems["one worker at a time"]
        self._access.commit_game(lease, game)
        self.seen.commits[lease.match, game.game].append(lease.attempt)
        if self.now > attempt.held_until:
            problems.append(f"{lease.match}: attempt {lease.attempt} wrote after its lease")
        if self.seen.attempts[lease.match][-1] is not attempt:
            problems.append(f"{lease.match}: attempt {lease.attempt} wrote after a newer one began")


def _result(lease: Lease, game: int, place: str, seed: int) -> PlayedGame:
    """Draw the result of a game by the Bradley-Terry model.

    It depends on the place of the match, and on neither attempts nor times.
    """
    table, board = divmod(game, lease.spec.boards)
    first, second = (
        random.Random(f"{seed}/strength/{name}").gauss(0, _SPREAD_ELO)
        for name in lease.spec.versions
    )
    chance = 1 / (1 + 10 ** ((second - first) / 400))
    is_won = random.Random(f"{place}/game/{game}").random() < chance
    return PlayedGame(
        game,
        table,
        board,
        "",
        (1, 2) if is_won else (2, 1),
        (1100, 1000) if is_won else (1000, 1100),
        (FINISHED, FINISHED),
        (0, 0),
        {},
    )


@contextmanager
def season(
    plan: SeasonPlan,
    access: Callable[[Engine], StoreAccess] = StoreAccess,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> Iterator[Season]:
    """Create a season with a store and a Redis of its own, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="season-") as folder:
        data_folder = Folder(Path(folder) / "data").create()
        engine = database.open(data_folder.database_url({}))
        database.upgrade(engine)
        (Path(folder) / "redis").mkdir(mode=0o700)
        server = redis_server.start(Path(folder) / "redis", ProcessLog(Path(folder) / "redis.log"))
        try:
            with connect(server.url) as connection:
                yield Season(plan, engine, connection, access, progress)
        finally:
            server.stop()
            engine.dispose()

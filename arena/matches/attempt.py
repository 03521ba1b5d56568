"""Play one attempt at a match in a separate process: lease it, play it, commit every game.

The store only ever holds complete games. An attempt that cannot continue releases the match, with
the reason if the arena failed. If the process is killed, the match becomes due when its lease
lapses. The next attempt starts after the last committed game.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.json_format import MessageToDict
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.errors import BotAbsent, BotError, Conflict, InfrastructureError, LeaseLost, StoreError
from arena.events.messages import Position
from arena.events.publisher import EventPublisher
from arena.matches.lease_renewal import Interrupted, LeaseRenewal
from arena.matches.runner import play_match
from arena.matches.table import Watch
from arena.remote.tunnel import relay_tunnel
from arena.store import commit_events
from arena.store.bots import remote_bots, version_files
from arena.store.matches import transitions, waiting
from arena.store.matches.games import PlayedGame
from arena.store.matches.spec import Entrant
from arena.store.matches.table_plan import TablePlan
from arena.store.matches.transitions import Lease
from arena.system import grpc_probe, timings
from referee import logs

if TYPE_CHECKING:
    from pokearena.v1 import referee_pb2
    from sqlalchemy import Engine

_REFEREE_SECONDS = 10.0
_GLANCE_SECONDS = 0.1
_AGAIN_SECONDS = 0.5
# Longer than the term of a lease: a lapsed lease normally ends the retries first.
_COMMIT_SECONDS = 60.0

log = logging.getLogger("arena.worker")


class Drained(Exception):
    """Raised after the commit of a game when the worker must stop."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Resources and settings with which a worker plays matches.

    Attributes:
        engine: database engine of the store.
        referee: gRPC address of the referee.
        owner: name of the worker, as shown by the store.
        outputs: directory for the output of bots, with one subdirectory per match.
        versions: directory with the files of the hosted versions on this machine.
        redis: URL of the Redis that receives events; None publishes nothing.
        watch_ms: minimum interval between published positions, in milliseconds; 0 publishes none.
        most_bytes: limit for the total size of fetched versions; None keeps all of them.
    """

    engine: Engine
    referee: str
    owner: str
    outputs: Path
    versions: Path
    redis: str | None = None
    watch_ms: int = 0
    most_bytes: int | None = None


def attempt(bench: Bench, match: str, drain: threading.Event) -> None:
    """Play the remaining games of a match if it is due; return when it is closed or released.

    Must run in the main thread of a process that ends afterwards (`arena.matches.lease_renewal`).

    Args:
        bench: resources of the worker.
        match: id of the match.
        drain: when set, the match is released after the current game.
    """
    timings.HERE.forget()
    with logs.bound(match=match, worker=bench.owner):
        _attempt(bench, match, drain)


def _attempt(bench: Bench, match: str, drain: threading.Event) -> None:
    # An attempt that has not begun is not a failure: the sweeper enqueues the match again.
    if not _referee_answers(bench, drain):
        log.warning("%s: not begun, no referee answers at %s", match, bench.referee)
        return
    if drain.is_set():
        return
    if not _relays_are_reached(bench.engine, match):
        log.info("%s: not begun, the relay of its remote bot cannot be reached from here", match)
        return
    with (
        EventPublisher(bench.redis) as publisher,
        commit_events.listening(bench.engine, publisher.publish),
    ):
        lease = transitions.lease(bench.engine, match, bench.owner)
        if lease is None:
            log.info("%s: not due any more", match)
            return
        with logs.bound(attempt=lease.attempt):
            _play_or_release(bench, lease, drain, publisher)


def _play_or_release(
    bench: Bench, lease: Lease, drain: threading.Event, publisher: EventPublisher
) -> None:
    match, games, done = lease.match, lease.spec.games, len(lease.committed)
    log.info("%s: attempt %d, %d of %d games left", match, lease.attempt, games - done, games)
    try:
        _play(bench, lease, drain, publisher)
    except (Drained, Interrupted):
        _release(bench, lease, None)
    except LeaseLost as error:
        log.warning("%s", error)
    except BotAbsent as absent:
        log.info("%s: %s", match, absent)
        _release(bench, lease, None)
    except (InfrastructureError, BotError) as error:
        _release(bench, lease, str(error))
    except Exception as error:
        log.exception("%s: failed", match)
        _release(bench, lease, f"{type(error).__name__}: {error}")


def _play(bench: Bench, lease: Lease, drain: threading.Event, publisher: EventPublisher) -> None:
    spec = lease.spec
    with LeaseRenewal(bench.engine, lease, drain) as renewal, contextlib.ExitStack() as stack:

        def commit(game: PlayedGame) -> None:
            if _commit(bench.engine, lease, game):
                renewal.end()
                log.info("%s: closed", lease.match)
            elif drain.is_set():
                raise Drained

        def keep(entrant: int, reports: Sequence[Report]) -> None:
            try:
                _keep_output(bench.outputs / lease.match, lease, entrant, reports)
            except OSError as error:
                log.warning("%s: cannot store the output of its bots: %s", lease.match, error)

        def show(table: TablePlan, shown: referee_pb2.PositionShown) -> None:
            publisher.publish(_position(lease, table, shown))

        awaited = not waiting.is_unawaited(bench.engine, lease.match)
        bots = [_bot(bench, entrant, awaited, stack) for entrant in spec.entrants]
        watch = Watch(show, bench.watch_ms) if bench.watch_ms else None
        if not play_match(spec, bench.referee, bots, commit, lease.committed, keep, watch=watch):
            raise InfrastructureError(
                "A fault stopped the match, as its strict policy requires. The lenient policy"
                " continues after faults."
            )


def _position(lease: Lease, table: TablePlan, shown: referee_pb2.PositionShown) -> Position:
    return Position(
        match=lease.match,
        table=table.table,
        game=shown.game,
        board=shown.board,
        decision=shown.decision,
        actors=tuple(shown.actors),
        seating=tuple(lease.spec.versions[entrant] for entrant in table.seating),
        view=MessageToDict(shown.view),
    )


def _commit(engine: Engine, lease: Lease, game: PlayedGame) -> bool:
    """Commit a game; retry while the database is unavailable, so that a played game is not lost.

    If the lease lapses meanwhile, the lease renewal interrupts the attempt.

    Returns:
        Whether this game closed the match.

    Raises:
        OperationalError: the database did not respond for `_COMMIT_SECONDS`.
        Conflict: the game was already committed before the first try.
    """
    tried = False
    give_up = time.monotonic() + _COMMIT_SECONDS
    while True:
        try:
            return transitions.commit_game(engine, lease, game)
        except OperationalError as error:
            if time.monotonic() > give_up:
                raise
            log.warning("%s: game %d is not committed yet: %s", lease.match, game.game, error.orig)
            tried = True
            time.sleep(_AGAIN_SECONDS)
        except Conflict:
            # The connection broke after the commit, so an earlier try has succeeded.
            if not tried:
                raise
            return False


def _bot(bench: Bench, entrant: Entrant, awaited: bool, stack: contextlib.ExitStack) -> Bot:
    engine = bench.engine
    if entrant.folder:
        return version_files.bot(
            engine,
            entrant.version,
            entrant.content_hash,
            entrant.folder,
            bench.versions,
            stack,
            bench.most_bytes,
        )
    if remote_bots.is_relayed(entrant.manifest):
        desk = remote_bots.relay_address(engine, entrant.version)
        way = relay_tunnel.needed(*desk)
        if not awaited and way is not None and not relay_tunnel.answers(way):
            way = None
        return Bot(entrant.version, desk=desk.address, way=way, awaited=awaited)
    address = entrant.manifest.get("address")
    if not address:
        raise BotError(f"{entrant.version} has neither files nor an address.")
    if awaited and not grpc_probe.answers(str(address)):
        remote_bots.went(engine, entrant.version)
        raise BotAbsent(f"{entrant.version} does not answer at its address.")
    return Bot(entrant.version, address=str(address))


def _release(bench: Bench, lease: Lease, reason: str | None) -> None:
    log.info("%s: released%s", lease.match, f": {reason}" if reason else "")
    try:
        transitions.release(bench.engine, lease, reason)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("%s: cannot be released; its lease will lapse: %s", lease.match, error)


def _referee_answers(bench: Bench, drain: threading.Event) -> bool:
    deadline = time.monotonic() + _REFEREE_SECONDS
    while not grpc_probe.answers(bench.referee):
        if time.monotonic() > deadline or drain.wait(_GLANCE_SECONDS):
            return False
    return True


def _relays_are_reached(engine: Engine, match: str) -> bool:
    """Return whether this machine can reach the relays of the match's remote bots."""
    return all(
        relay_tunnel.is_reached(desk, told)
        for desk, told in remote_bots.relay_addresses(engine, match).items()
    )


def _keep_output(directory: Path, lease: Lease, entrant: int, reports: Sequence[Report]) -> None:
    """Append the output of a bot's processes at one table to its log file, for its author."""
    texts = [
        f"--- attempt {lease.attempt}, seat {report.seat + 1}: {report.ended}\n{report.output}\n"
        for report in reports
        if report.output
    ]
    if texts:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / f"{lease.spec.versions[entrant]}.log"
        with path.open("a", encoding="utf-8") as log_file:
            log_file.writelines(texts)

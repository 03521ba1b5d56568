"""Play one attempt at a match in a separate process: lease it, play it, commit every game.

The store only ever holds complete games. An attempt that cannot continue releases the match, with
the reason if the arena failed. If the process is killed, the match becomes due when its lease
lapses. The next attempt starts after the last committed game.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError, SQLAlchemyError

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.sandbox import available_levels
from arena.bots.sandbox.level import refusal
from arena.errors import BotAbsent, BotError, Conflict, InfrastructureError, LeaseLost, StoreError
from arena.matches.lease_renewal import Interrupted, LeaseRenewal
from arena.matches.runner import play_match
from arena.matches.table import Watch
from arena.models.match_models import MatchModels, usable_models
from arena.ratings.closed_match import PlayedGame
from arena.store import database
from arena.store.bots import pushed_versions, remote_bots, version_files
from arena.store.bots.model_grants import granted_models
from arena.store.events.messages import Position
from arena.store.events.publisher import EventPublisher
from arena.store.matches import match_leases, offline_bot_waits
from arena.store.matches.match_leases import ArenaFault, Lease
from arena.store.matches.model_calls import MODELS_UNAVAILABLE
from arena.store.matches.spec import Entrant
from arena.store.matches.table_plan import TablePlan
from arena.store.objects.object_storage import ObjectLost, StorageUnavailable
from arena.system import grpc_probe, private_files, timings
from arena.system.start_breaker import StartBreaker
from arena.system.stop_event import StopEvent
from arena.system.tunnel.endpoint import needed
from arena.system.tunnel.stream import is_reachable, is_reached
from referee import logs
from referee.games.contract import SetupError
from referee.games.registry import find_game
from referee.generic_codec import json_of_message
from referee.numbering import game_text
from referee.sanitizing import one_line

if TYPE_CHECKING:
    from pokearena.v1 import referee_pb2
    from sqlalchemy import Engine

_REFEREE_SECONDS = 10.0
_POLL_SECONDS = 0.1
_RETRY_SECONDS = 0.5
# Longer than the term of a lease: a lapsed lease normally ends the retries first.
_COMMIT_SECONDS = 60.0
# Pause after a match could not begin because of the object storage, so that workers do not spin.
_OUTAGE_SECONDS = 5.0
_KILLED = frozenset(
    {"helper-lost", "launcher-lost", "no-referee", "referee-lost", "relay-frozen", "relay-lost"}
)
"""Codes of failures after which a process of the arena was gone or frozen: probably killed."""

_NOT_COUNTED = _KILLED | {MODELS_UNAVAILABLE}
"""Codes of failures that do not count towards a void match or the breaker of the worker."""

log = logging.getLogger("arena.worker")


class Drained(Exception):
    """Raised after the commit of a game when the worker must stop."""


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """Resources and settings with which a worker plays matches.

    Attributes:
        engine: database engine of the store.
        referee: gRPC address of the referee.
        owner: name of the worker, as shown by the store.
        outputs: directory for the output of bots, with one subdirectory per match.
        versions: directory with the files of the hosted versions on this machine.
        redis: URL of the Redis that receives events; None publishes nothing.
        watch_ms: minimum interval between published positions, in milliseconds; 0 publishes none.
        watch_notes: whether positions of matches between hosted bots contain the bots' notes.
        most_bytes: limit for the total size of fetched versions; None keeps all of them.
        game_check: returns a function that raises SetupError for the id of a game that must not be
            played here.
        models_folder: folder of `models.toml`; None if bots get no models.
        breaker: counts the failed attempts of the worker.
    """

    engine: Engine
    referee: str
    owner: str
    outputs: Path
    versions: Path
    redis: str | None = None
    watch_ms: int = 0
    watch_notes: bool = False
    most_bytes: int | None = None
    game_check: Callable[[], Callable[[str], object]] = lambda: find_game
    models_folder: Path | None = None
    breaker: StartBreaker = field(default_factory=StartBreaker)


def attempt(resources: WorkerResources, match: str, drain: StopEvent) -> None:
    """Play the remaining games of a match if it is due; return when it is closed or released.

    Must run in the main thread of a process that ends afterwards (`arena.matches.lease_renewal`).

    Args:
        resources: resources of the worker.
        match: id of the match.
        drain: when set, the match is released after the current game.
    """
    timings.HERE.forget()
    with logs.bound(match=match, worker=resources.owner):
        _attempt(resources, match, drain)


def _attempt(resources: WorkerResources, match: str, drain: StopEvent) -> None:
    # An attempt that has not begun is not a failure: the sweeper enqueues the match again.
    if not _referee_answers(resources, drain):
        log.warning("%s: not started: no referee answers at %s", match, resources.referee)
        return
    if drain.is_set():
        return
    if why_not := _sandbox_refusal(resources.engine, match):
        log.warning("%s: not started: %s", match, why_not)
        return
    if not _can_reach_relays(resources.engine, match):
        log.info("%s: not started: cannot connect to the relay of its remote bot", match)
        return
    try:
        models = _models(resources, match)
    except InfrastructureError as error:
        log.warning("%s: not started: %s", match, error)
        return
    check = resources.game_check()
    with (
        EventPublisher(resources.redis) as publisher,
        database.listening(resources.engine, publisher.publish),
    ):
        try:
            lease = match_leases.lease(resources.engine, match, resources.owner, check=check)
        except SetupError as error:
            log.warning("%s: not started: %s", match, error)
            drain.wait(_RETRY_SECONDS)
            return
        if lease is None:
            _note_not_leased(resources, match, drain)
            return
        if models is not None:
            models = replace(models, attempt=lease.attempt)
        with logs.bound(attempt=lease.attempt):
            _play_or_release(resources, lease, models, drain, publisher)


def _note_not_leased(resources: WorkerResources, match: str, drain: StopEvent) -> None:
    """Log why a match was not leased; pause if the database is that of a newer release."""
    try:
        database.refuse_newer(resources.engine)
    except StoreError as error:
        log.error("%s: not started: %s", match, error)
        drain.wait(_OUTAGE_SECONDS)
    else:
        log.info("%s: no longer due", match)


def _play_or_release(
    resources: WorkerResources,
    lease: Lease,
    models: MatchModels | None,
    drain: StopEvent,
    publisher: EventPublisher,
) -> None:
    match, games, done = lease.match, lease.spec.games, len(lease.committed)
    log.info("%s: attempt %d, %d of %d games left", match, lease.attempt, games - done, games)
    tables = lease.spec.games // lease.spec.boards
    try:
        with models.reserved(tables) if models else contextlib.nullcontext():
            _play(resources, lease, models, drain, publisher)
    except (Drained, Interrupted):
        _release(resources, lease, None)
    except LeaseLost as error:
        log.warning("%s", error)
    except BotAbsent as absent:
        log.info("%s: %s", match, absent)
        _release(resources, lease, None)
    except StorageUnavailable as error:
        # An outage must not void matches. Another worker may have the files.
        log.warning("%s: not started: %s", match, error)
        _release(resources, lease, None)
        drain.wait(_OUTAGE_SECONDS)
    except InfrastructureError as error:
        _release(resources, lease, _fault(resources, str(error), error.code in _NOT_COUNTED))
    except (BotError, ObjectLost) as error:
        _release(resources, lease, ArenaFault(str(error), socket.gethostname()))
    except Exception as error:
        log.exception("%s: failed", match)
        sentence = "an unexpected error of the arena ended the attempt."
        details = f"{type(error).__name__}: {error}"
        _release(resources, lease, _fault(resources, f"{sentence}\n{details}"))


def _fault(resources: WorkerResources, reason: str, is_outage: bool = False) -> ArenaFault:
    """Return the failure of an attempt, and count it for the worker's breaker."""
    was_open = resources.breaker.is_open
    if not is_outage:
        resources.breaker.note_failure()
    return ArenaFault(reason, socket.gethostname(), counts=not (was_open or is_outage))


def _play(
    resources: WorkerResources,
    lease: Lease,
    models: MatchModels | None,
    drain: StopEvent,
    publisher: EventPublisher,
) -> None:
    spec = lease.spec
    with LeaseRenewal(resources.engine, lease, drain) as renewal, contextlib.ExitStack() as stack:

        def commit(game: PlayedGame) -> None:
            is_last = _commit(resources.engine, lease, game)
            resources.breaker.note_success()
            if is_last:
                renewal.end()
                log.info("%s: closed", lease.match)
            elif drain.is_set():
                raise Drained

        def keep(entrant: int, reports: Sequence[Report]) -> None:
            try:
                _keep_output(resources.outputs / lease.match, lease, entrant, reports)
            except OSError as error:
                log.warning("%s: cannot store the output of its bots: %s", lease.match, error)

        def show(table: TablePlan, shown: referee_pb2.PositionShown) -> None:
            publisher.publish(_position(lease, table, shown))

        awaited = not offline_bot_waits.is_unawaited(resources.engine, lease.match)
        bots = [_bot(resources, entrant, awaited, stack) for entrant in spec.entrants]
        watch = (
            Watch(show, resources.watch_ms, resources.watch_notes) if resources.watch_ms else None
        )
        if not play_match(
            spec,
            resources.referee,
            bots,
            commit,
            lease.committed,
            keep,
            watch=watch,
            models=models,
        ):
            raise InfrastructureError(
                "a fault stopped the match, as its strict policy requires. The lenient policy"
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
        view=json_of_message(shown.view),
        bank_ms=tuple(shown.bank_ms),
        notes=tuple(shown.notes),
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
    is_retry = False
    deadline = time.monotonic() + _COMMIT_SECONDS
    while True:
        try:
            return match_leases.commit_game(engine, lease, game)
        except OperationalError as error:
            if time.monotonic() > deadline:
                raise
            log.warning(
                "%s: %s is not committed yet: %s", lease.match, game_text(game.game), error.orig
            )
            is_retry = True
            time.sleep(_RETRY_SECONDS)
        except Conflict:
            # The connection broke after the commit, so an earlier try has succeeded.
            if not is_retry:
                raise
            return False


def _bot(
    resources: WorkerResources, entrant: Entrant, awaited: bool, stack: contextlib.ExitStack
) -> Bot:
    engine = resources.engine
    if entrant.folder:
        return version_files.bot(
            engine,
            entrant.version,
            entrant.content_hash,
            entrant.folder,
            resources.versions,
            stack,
            resources.most_bytes,
        )
    if remote_bots.is_relayed(entrant.manifest):
        relay = remote_bots.relay_address(engine, entrant.version)
        tunnel = needed(*relay)
        if not awaited and tunnel is not None and not is_reachable(tunnel):
            tunnel = None
        return Bot(entrant.version, relay=relay.address, tunnel=tunnel, awaited=awaited)
    address = entrant.manifest.get("address")
    if not address:
        raise BotError(f"{entrant.version} has neither files nor an address.")
    if awaited and not grpc_probe.answers(str(address)):
        remote_bots.record_disconnected(engine, entrant.version)
        raise BotAbsent(f"{entrant.version} does not answer at its address.")
    return Bot(entrant.version, address=str(address))


def _release(resources: WorkerResources, lease: Lease, fault: ArenaFault | None) -> None:
    log.info("%s: released%s", lease.match, f": {one_line(fault.reason)}" if fault else "")
    try:
        match_leases.release(resources.engine, lease, fault)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("%s: cannot be released; its lease will lapse: %s", lease.match, error)


def _referee_answers(resources: WorkerResources, drain: StopEvent) -> bool:
    deadline = time.monotonic() + _REFEREE_SECONDS
    while not grpc_probe.answers(resources.referee):
        if time.monotonic() > deadline or drain.wait(_POLL_SECONDS):
            return False
    return True


def _sandbox_refusal(engine: Engine, match: str) -> str:
    """Return why the bots of a match must not or cannot run here; empty if they may."""
    try:
        level = available_levels.best_level()
    except InfrastructureError as error:
        return str(error)
    if not refusal("a pushed version", trusted=False, level=level):
        return ""
    refusals = (refusal(name, False, level) for name in pushed_versions.pushed_in(engine, match))
    return next(refusals, "")


def _models(resources: WorkerResources, match: str) -> MatchModels | None:
    """Return the models of a match; None if its bots have none.

    Raises:
        InfrastructureError: the match must not begin here now.
    """
    if resources.models_folder is None:
        return None
    granted = granted_models(resources.engine, match)
    if not granted:
        return None
    level, outputs = available_levels.best_level(), resources.outputs / match
    return usable_models(resources.engine, match, granted, resources.models_folder, outputs, level)


def _can_reach_relays(engine: Engine, match: str) -> bool:
    """Return whether this machine can reach the relays of the match's remote bots."""
    return all(
        is_reached(relay, endpoint)
        for relay, endpoint in remote_bots.relay_addresses(engine, match).items()
    )


def _keep_output(directory: Path, lease: Lease, entrant: int, reports: Sequence[Report]) -> None:
    """Append the output of a bot's processes at one table to its log file, for its author."""
    texts = [
        f"--- attempt {lease.attempt}, seat {report.seat + 1}: {report.ended}\n{report.output}\n"
        for report in reports
        if report.output
    ]
    if texts:
        private_files.create_folder(directory)
        path = directory / f"{lease.spec.versions[entrant]}.log"
        with open(path, "a", encoding="utf-8", opener=private_files.opener) as log_file:
            log_file.writelines(texts)

"""Play a match: its tables, one after another, against the referee at an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import grpc
from pokearena.v1 import referee_pb2_grpc

from arena.bots.bot import Bot
from arena.errors import InfrastructureError
from arena.matches.table import OnReports, Sink, Table, Watch
from arena.ratings.closed_match import PlayedGame
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import plan
from referee import logs
from referee.record import dump

if TYPE_CHECKING:
    from arena.models.match_models import MatchModels

CONNECT_SECONDS: Final = 10.0
"""Seconds within which the referee must be reached."""
OPTIONS: Final[list[tuple[str, Any]]] = [
    # The record of a game that contains the output of several faults is far smaller.
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.max_send_message_length", 4 << 20),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
    # A frozen or disconnected referee sends nothing: the call fails after 15 s.
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    # Each match has its own connection, which is closed with its channel.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]


def record_text(spec: MatchSpec, games: Mapping[int, str], seed: bytes | None) -> str:
    """Return the match line, the games in ascending order, and the seed if it is public.

    Args:
        spec: the match.
        games: record lines of each finished game by its number within the match.
        seed: the match's seed once its last table is over; None before.
    """
    lines = [dump(spec.line()), *(games[number] for number in sorted(games))]
    if seed is not None:
        lines.append(dump({"type": "seed", "seed": seed.hex()}))
    return "".join(lines)


def play_match(
    spec: MatchSpec,
    referee: str,
    bots: Sequence[Bot],
    sink: Sink,
    committed: Iterable[PlayedGame] = (),
    on_reports: OnReports = lambda entrant, reports: None,
    timeout: float = CONNECT_SECONDS,
    watch: Watch | None = None,
    models: MatchModels | None = None,
) -> bool:
    """Play the remaining games of a match; return False if the strict policy stopped it early.

    Opens channels only within this call, so that it can run in a process forked after this module
    was imported.

    Args:
        spec: the match.
        referee: the referee's address, "unix:/path" or "host:port".
        bots: one bot for each entrant, in order.
        sink: receives every finished game; an exception it raises stops the match and propagates.
        committed: games that are already committed and not played again.
        on_reports: receives the reports of an entrant's processes after each table.
        timeout: seconds within which the referee must be reached.
        watch: observer of the match; an exception raised by its `show` stops the match.
        models: the models of its bots; None if they have none.

    Raises:
        InfrastructureError: a part of the arena failed; games passed to `sink` remain valid.
        SetupError: the game cannot be played with these settings.
    """
    tables = plan(spec, committed)
    with grpc.insecure_channel(referee, options=OPTIONS) as channel:
        _connect(channel, referee, timeout)
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        for table in tables:
            with logs.bound(table=table.table):
                if not Table(spec, table, bots, watch, models).play(stub, sink, on_reports):
                    return False
        return True


def _connect(channel: grpc.Channel, referee: str, timeout: float) -> None:
    ready = grpc.channel_ready_future(channel)
    try:
        ready.result(timeout=timeout)
    except grpc.FutureTimeoutError:
        raise InfrastructureError(
            f"no referee answers at {referee} (waited {timeout:g} s).", code="no-referee"
        ) from None
    finally:
        ready.cancel()

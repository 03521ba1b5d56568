"""Plays a match: its tables, one after another, against a referee at an address."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import grpc
from pokearena.v1 import referee_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.errors import InfrastructureError
from arena.matches.table import Hear, Sink, Table, Watch
from arena.store.matches.games import CommittedGame
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import plan
from referee import logs
from referee.record import dump

# The record of a match as text: the same from `play` as from the store.


def record_text(spec: MatchSpec, games: Mapping[int, str], seed: bytes | None) -> str:
    """The match line, the games in the order of their numbers, and the seed if it is public.

    Args:
        spec: the match.
        games: the record lines of each finished game by its number within the match.
        seed: the match's seed once its last table is over; None before.
    """
    lines = [dump(spec.line()), *(games[number] for number in sorted(games))]
    if seed is not None:
        lines.append(dump({"type": "seed", "seed": seed.hex()}))
    return "".join(lines)


PATIENCE: Final = 10.0
"""Seconds in which the referee must be reached."""
OPTIONS: Final[list[tuple[str, Any]]] = [
    # A record of a game with the output of several faults in it stays far below this.
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.max_send_message_length", 4 << 20),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
    # A frozen referee, or one behind a cut cable, says nothing: it is given up after 15 s.
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A match has a connection of its own, and leaves none behind.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]


def _unheard(entrant: int, reports: Sequence[Report]) -> None:
    """Nobody wants to know."""


def play_match(
    spec: MatchSpec,
    referee: str,
    bots: Sequence[Bot],
    sink: Sink,
    committed: Iterable[CommittedGame] = (),
    hear: Hear = _unheard,
    patience: float = PATIENCE,
    watch: Watch | None = None,
) -> bool:
    """Plays what is left of a match; False if the strict policy stopped it before its end.

    Opens channels only in here, so that it can run in a process forked after this module was
    imported.

    Args:
        spec: the match.
        referee: the referee's address, "unix:/path" or "host:port".
        bots: one for each entrant, in order.
        sink: is handed every finished game; what it raises stops the match and is passed on.
        committed: the games that need no playing any more.
        hear: is told what an entrant's processes wrote at a table that is over.
        patience: seconds in which the referee must be reached.
        watch: somebody who watches; what showing raises stops the match.

    Raises:
        InfrastructureError: something of the arena's own failed; games handed to `sink` hold.
        SetupError: the game cannot be played like this.
    """
    tables = plan(spec, committed)
    with grpc.insecure_channel(referee, options=OPTIONS) as channel:
        _reach(channel, referee, patience)
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        for table in tables:
            with logs.bound(table=table.table):
                if not Table(spec, table, bots, watch).play(stub, sink, hear):
                    return False
        return True


def _reach(channel: grpc.Channel, referee: str, patience: float) -> None:
    ready = grpc.channel_ready_future(channel)
    try:
        ready.result(timeout=patience)
    except grpc.FutureTimeoutError:
        raise InfrastructureError(
            f"No referee answers at {referee} (waited {patience:g} s)."
        ) from None
    finally:
        ready.cancel()

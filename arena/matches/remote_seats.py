"""Seat relay-connected bots at one table through the relay control API."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import grpc
from pokearena.v1 import relay_pb2, relay_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.errors import BotAbsent, InfrastructureError
from arena.system import grpc_probe
from arena.system.tunnel.endpoint import TunnelEndpoint
from arena.system.tunnel.local_sockets import Tunnel
from arena.system.tunnel.stream import CONTROL_API, TunnelUnavailable

ANSWER_SECONDS: Final = 5.0
"""Seconds within which the relay control API must respond."""
REPORT_SECONDS: Final = 0.3
"""Seconds to wait for a delayed report that a process has ended."""
ABSENT_ADDRESS: Final = "unix:/nonexistent/remote-bot"
"""Address of an absent bot that the match does not wait for: its start times out."""
_FROZEN: Final = "The relay does not respond, and through it no remote bot."
_LOST: Final = "The relay ended, and with it the connection of a remote bot."
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", 64 << 10),
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]


@dataclass(slots=True)
class _RemoteSeat:
    channel: grpc.Channel
    call: Any
    tunnel: Tunnel | None
    relay: str
    ended: str = ""
    is_lost: bool = False
    """Whether the relay ended while the bot had this seat."""


class RemoteSeats:
    """Requests seats from relays and tracks the state of the bots in them. Thread-safe.

    Args:
        match: id of the match.
        on_end: called, from a separate thread, with the report of each process that ended by
            itself.
        on_lost: called, from a separate thread, with a sentence when the relay is lost.
    """

    def __init__(
        self, match: str, on_end: Callable[[Report], None], on_lost: Callable[[str], None]
    ) -> None:
        self._match = match
        self._on_end = on_end
        self._on_lost = on_lost
        self._changed = threading.Condition()
        self._seats: dict[int, _RemoteSeat] = {}
        self._tunnels: dict[TunnelEndpoint, Tunnel] = {}
        self._closing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        for remote_seat in self._seats.values():
            remote_seat.call.cancel()
            remote_seat.channel.close()
        for tunnel in self._tunnels.values():
            tunnel.close()

    def start(self, seat: int, bot: Bot) -> str:
        """Request a seat and a fresh process for a bot; return the address at which it answers.

        A bot that is absent and not awaited gets the address ABSENT_ADDRESS.

        Raises:
            BotAbsent: the bot is not connected, or accepts no more tables now.
            InfrastructureError: its relay is on another machine and cannot be reached.
        """
        self._free(seat)
        try:
            return self._request(seat, bot)
        except BotAbsent as absent:
            if bot.awaited:
                raise
            if bot.tunnel is not None:
                # This machine cannot determine whether the bot is connected.
                raise InfrastructureError(str(absent), code=absent.code) from None
            return ABSENT_ADDRESS

    def _request(self, seat: int, bot: Bot) -> str:
        if not bot.relay:
            raise BotAbsent(f"{bot.label} has never been connected.", code="never-connected")
        tunnel = self._tunnel(bot)
        relay = bot.relay if tunnel is None else tunnel.address(CONTROL_API)
        channel = grpc.insecure_channel(relay, options=_OPTIONS)
        request = relay_pb2.SeatRequest(
            version=bot.label, match=self._match, even_absent=not bot.awaited
        )
        try:
            grpc.channel_ready_future(channel).result(timeout=ANSWER_SECONDS)
            call = relay_pb2_grpc.LobbyServiceStub(channel).Seat(request)
            first = next(call)
        except (grpc.RpcError, grpc.FutureTimeoutError, StopIteration):
            channel.close()
            raise BotAbsent(f"the relay that {bot.label} was connected to is gone.") from None
        if not first.HasField("seated"):
            channel.close()
            raise BotAbsent(first.absent.reason)
        remote_seat = self._seats[seat] = _RemoteSeat(channel, call, tunnel, relay)
        threading.Thread(
            target=self._receive, args=(seat, remote_seat), name="remote seat", daemon=True
        ).start()
        address = str(first.seated.address)
        return address if tunnel is None else tunnel.address(Path(address).name)

    def _tunnel(self, bot: Bot) -> Tunnel | None:
        """Return the tunnel to the bot's relay; None if the relay is on this machine."""
        if bot.tunnel is None:
            return None
        if bot.tunnel not in self._tunnels:
            try:
                self._tunnels[bot.tunnel] = Tunnel(bot.tunnel, self._on_lost)
            except TunnelUnavailable as error:
                raise BotAbsent(
                    f"the relay that {bot.label} is connected to cannot be reached: {error}.",
                    code="relay-unreachable",
                ) from None
        return self._tunnels[bot.tunnel]

    def report(self, seat: int) -> Report:
        """Return the report on the latest process of a seat.

        Raises:
            InfrastructureError: the relay or its tunnel is lost, the relay does not respond, or the
                tunnel was delayed, so the bot may not be responsible for its failure.
        """
        with self._changed:
            remote_seat = self._seats.get(seat)
            if remote_seat is None:
                return Report(seat)
            self._changed.wait_for(lambda: remote_seat.ended or remote_seat.is_lost, REPORT_SECONDS)
        if not remote_seat.ended and remote_seat.tunnel is not None:
            remote_seat.tunnel.vouch()
        if not remote_seat.ended and remote_seat.is_lost:
            raise InfrastructureError(_LOST, code="relay-lost")
        if (
            not remote_seat.ended
            and remote_seat.tunnel is None
            and not grpc_probe.answers(remote_seat.relay)
        ):
            raise InfrastructureError(_FROZEN, code="relay-frozen")
        return Report(seat, remote_seat.ended)

    def _free(self, seat: int) -> None:
        with self._changed:
            remote_seat = self._seats.pop(seat, None)
        if remote_seat is not None:
            remote_seat.call.cancel()
            remote_seat.channel.close()

    def _receive(self, seat: int, remote_seat: _RemoteSeat) -> None:
        with contextlib.suppress(grpc.RpcError):
            for event in remote_seat.call:
                with self._changed:
                    remote_seat.ended = event.ended.clause or "ended"
                    self._changed.notify_all()
                self._on_end(Report(seat, remote_seat.ended))
        if not self._closing and self._seats.get(seat) is remote_seat:
            with self._changed:
                remote_seat.is_lost = True
                self._changed.notify_all()
            self._on_lost(_LOST)

"""Seat relay-connected bots at one table through the relay control API."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import grpc
from pokearena.v1 import relay_pb2, relay_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.errors import BotAbsent, InfrastructureError
from arena.remote.tunnel import relay_tunnel
from arena.remote.tunnel.relay_tunnel import RelayOutOfReach, Tunnel, TunnelEndpoint
from arena.system import grpc_probe

ANSWER: Final = 5.0
"""Seconds within which the relay control API must respond."""
PATIENCE: Final = 0.3
"""Seconds to wait for a delayed report that a process has ended."""
NOWHERE: Final = "unix:/nonexistent/remote-bot"
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
class _Place:
    channel: grpc.Channel
    call: Any
    tunnel: Tunnel | None
    desk: str
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
        self._places: dict[int, _Place] = {}
        self._tunnels: dict[TunnelEndpoint, Tunnel] = {}
        self._closing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing = True
        for place in self._places.values():
            place.call.cancel()
            place.channel.close()
        for one in self._tunnels.values():
            one.close()

    def start(self, seat: int, bot: Bot) -> str:
        """Request a seat and a fresh process for a bot; return the address at which it answers.

        A bot that is absent and not awaited gets the address NOWHERE.

        Raises:
            BotAbsent: the bot is not connected, or accepts no more tables now.
            InfrastructureError: its relay is on another machine and cannot be reached.
        """
        self._leave(seat)
        try:
            return self._order(seat, bot)
        except BotAbsent as absent:
            if bot.awaited:
                raise
            if bot.way is not None:
                # This machine cannot determine whether the bot is connected.
                raise InfrastructureError(str(absent)) from None
            return NOWHERE

    def _order(self, seat: int, bot: Bot) -> str:
        if not bot.desk:
            raise BotAbsent(f"{bot.label} has never been connected.")
        through = self._tunnel(bot)
        desk = bot.desk if through is None else through.address(relay_tunnel.DESK)
        channel = grpc.insecure_channel(desk, options=_OPTIONS)
        order = relay_pb2.SeatRequest(
            version=bot.label, match=self._match, even_absent=not bot.awaited
        )
        try:
            grpc.channel_ready_future(channel).result(timeout=ANSWER)
            call = relay_pb2_grpc.LobbyServiceStub(channel).Seat(order)
            first = next(call)
        except (grpc.RpcError, grpc.FutureTimeoutError, StopIteration):
            channel.close()
            raise BotAbsent(f"the relay that {bot.label} was connected to is gone.") from None
        if not first.HasField("seated"):
            channel.close()
            raise BotAbsent(first.absent.reason)
        place = self._places[seat] = _Place(channel, call, through, desk)
        threading.Thread(
            target=self._listen, args=(seat, place), name="relayed", daemon=True
        ).start()
        address = str(first.seated.address)
        return address if through is None else through.address(Path(address).name)

    def _tunnel(self, bot: Bot) -> Tunnel | None:
        """Return the tunnel to the bot's relay; None if the relay is on this machine."""
        if bot.way is None:
            return None
        if bot.way not in self._tunnels:
            try:
                self._tunnels[bot.way] = Tunnel(bot.way, self._on_lost)
            except RelayOutOfReach as error:
                raise BotAbsent(
                    f"the relay that {bot.label} is connected to cannot be reached: {error}."
                ) from None
        return self._tunnels[bot.way]

    def report(self, seat: int) -> Report:
        """Return the report on the latest process of a seat.

        Raises:
            InfrastructureError: the relay or its tunnel is lost, the relay does not respond, or the
                tunnel was delayed, so the bot may not be responsible for its failure.
        """
        with self._changed:
            place = self._places.get(seat)
            if place is None:
                return Report(seat)
            self._changed.wait_for(lambda: place.ended or place.is_lost, PATIENCE)
        if not place.ended and place.tunnel is not None:
            place.tunnel.vouch()
        if not place.ended and place.is_lost:
            raise InfrastructureError(_LOST)
        if not place.ended and place.tunnel is None and not grpc_probe.answers(place.desk):
            raise InfrastructureError(_FROZEN)
        return Report(seat, place.ended)

    def _leave(self, seat: int) -> None:
        with self._changed:
            place = self._places.pop(seat, None)
        if place is not None:
            place.call.cancel()
            place.channel.close()

    def _listen(self, seat: int, place: _Place) -> None:
        with contextlib.suppress(grpc.RpcError):
            for said in place.call:
                with self._changed:
                    place.ended = said.ended.clause or "ended"
                    self._changed.notify_all()
                self._on_end(Report(seat, place.ended))
        if not self._closing and self._places.get(seat) is place:
            with self._changed:
                place.is_lost = True
                self._changed.notify_all()
            self._on_lost(_LOST)

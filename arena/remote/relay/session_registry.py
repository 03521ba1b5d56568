"""The registry of connected remote bots: admission, presence, seats, work budgets and outcomes."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from itertools import count
from pathlib import Path
from typing import Final

import grpc
from pokearena.v1 import relay_pb2
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import NotFound, StoreError
from arena.remote.relay import work_budgets
from arena.remote.relay.relay_seat import RelaySeat
from arena.remote.relay.relay_session import ConnectorLink, RelaySession
from arena.remote.relay.unauthenticated_streams import address_of
from arena.remote.relay.work_budgets import WorkBudgets
from arena.store.access.tokens import token_hash
from arena.store.bots import remote_bots
from arena.store.bots.versions import Version
from arena.store.matches import listing, results
from arena.store.schema import MatchState
from arena.system import grpc_probe
from arena.system.token_buckets import Buckets
from arena.system.tunnel.endpoint import TunnelEndpoint

MOST_SESSIONS: Final = 512
GUESS_RATE: Final = 0.2
"""Unknown tokens that an address may try per second, after GUESS_BURST at once.

Known tokens are not counted, so a bot behind the same address is not blocked.
"""
GUESS_BURST: Final = 10
TICK_SECONDS: Final = 2.0

log = logging.getLogger("arena.relay")


class ConnectionRefused(Exception):
    """A connection is refused. The exception's text is a sentence for the bot's author."""

    def __init__(self, code: grpc.StatusCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class BotNotSeatable(Exception):
    """A bot cannot be seated. The exception's text is a sentence."""


class SessionRegistry:
    """The sessions of one relay. Use it from one event loop only.

    Args:
        engine: the store.
        control: address of the relay control API.
        sockets: a private directory for the sockets of seats.
        tunnel: the tunnel endpoint for workers on other machines; None if they cannot connect.
    """

    def __init__(
        self, engine: Engine, control: str, sockets: Path, tunnel: TunnelEndpoint | None = None
    ) -> None:
        self._engine = engine
        self._control = control
        self._sockets = sockets
        self._tunnel = None if tunnel is None else tunnel.written()
        self._sessions: dict[str, RelaySession] = {}
        # Not from 1: connectors may still report on the seats of a relay that was killed.
        self._numbers = count(secrets.randbits(32))
        self._guesses = Buckets(GUESS_RATE, GUESS_BURST)
        self._known_tokens: frozenset[str] = frozenset()
        self._work = WorkBudgets()

    async def enter(self, hello: relay_pb2.Hello, peer: str) -> RelaySession:
        """Admit a bot and return its session.

        Args:
            hello: the connection's first message.
            peer: gRPC name of the peer, for the log and for the limit of unknown tokens.

        Raises:
            ConnectionRefused: the bot is not admitted. Refusals because of retirement or of a
                second connection are also written to the store.
        """
        now = time.monotonic()
        version = await self._version_of(hello.token, peer, now)
        owner = version.owner or version.name
        self._pay_connection(owner, now)
        is_elsewhere = await self._is_elsewhere(version.id)
        # An admitted connection does not await anything between this line and `welcome`. Of
        # two simultaneous connections one is therefore refused.
        session = self._sessions.get(version.id)
        if session is not None and session.instance == hello.instance:
            return session
        if version.retired is not None:
            sentence = f"{version.id} is retired: it plays no more."
            raise await self._refusal(grpc.StatusCode.PERMISSION_DENIED, version.id, sentence, peer)
        if is_elsewhere or (session is not None and session.link is not None):
            sentence = (
                f"{version.id} is connected already; its token can be used in one place at a time. "
                "If that is not you, ask the organiser for another token."
            )
            raise await self._refusal(grpc.StatusCode.ALREADY_EXISTS, version.id, sentence, peer)
        token = token_hash(hello.token)
        if session is not None:
            # The connector was restarted, so the bot's processes are new too.
            session.set_connector(hello.instance, token, hello.tables)
            session.owner = owner
            return session
        if len(self._sessions) >= MOST_SESSIONS:
            raise ConnectionRefused(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"there are {MOST_SESSIONS} bots here already; come back later.",
            )
        session = RelaySession(version.id, owner, hello.instance, token, hello.tables)
        self._sessions[version.id] = session
        return session

    async def _version_of(self, token: str, peer: str, now: float) -> Version:
        """Return the bot of a token; an address can try only a few unknown ones."""
        if token_hash(token) not in self._known_tokens:
            wait = self._guesses.wait(address_of(peer), now)
            if wait:
                # Connectors retry after this code; a valid token may have been issued since the
                # last tick.
                raise ConnectionRefused(
                    grpc.StatusCode.UNAVAILABLE,
                    f"too many unknown tokens came from this address; try again in {wait} s.",
                )
        version = await asyncio.to_thread(remote_bots.version_with_token, self._engine, token)
        if version is None:
            self._guesses.take(address_of(peer), now)
            log.warning("%s sent an unknown token", peer)
            raise ConnectionRefused(
                grpc.StatusCode.UNAUTHENTICATED,
                "unknown token; the organiser creates one with `pokearena bot add --remote NAME`, "
                "and replaces it with `pokearena bot renew NAME@VERSION`.",
            )
        return version

    def _pay_connection(self, owner: str, now: float) -> None:
        wait = self._work.wait(owner, now)
        if wait:
            raise ConnectionRefused(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"bots of {owner} have sent too much; try again in {wait} s.",
            )
        self._work.charge(owner, work_budgets.CONNECTION, now)

    async def welcome(self, session: RelaySession, link: ConnectorLink, peer: str) -> None:
        """Attach the connection of an admitted bot and store its presence."""
        session.leaving = False
        session.attach(link)
        log.info("%s is connected, from %s", session.version, peer)
        await self._store(
            remote_bots.record_connected,
            session.version,
            self._control,
            session.free_tables,
            self._tunnel,
        )

    async def leave(self, session: RelaySession, link: ConnectorLink) -> None:
        """Detach a closed connection. Open requests wait for the next one."""
        if not session.detach(link):
            return
        log.info("%s is gone%s", session.version, f": {link.farewell}" if link.farewell else "")
        self._forget(session)
        await self._store(remote_bots.record_disconnected, session.version, self._control)

    async def receive(self, session: RelaySession, message: relay_pb2.ConnectRequest) -> None:
        """Charge a bot's message to its owner's budget and process it.

        Closes the connection if the budget is exhausted.
        """
        cost = work_budgets.cost_of(message.ByteSize())
        if not self._work.charge(session.owner, cost, time.monotonic()):
            if session.link is not None:
                session.link.end("it sent more than the questions to it allow.")
            return
        leaves = message.HasField("leaving") and not session.leaving
        session.receive(message)
        if leaves:
            await self._tell_room(session)
            if session.link is not None and not (session.seats or session.played):
                session.link.end()

    async def tick(self) -> None:
        """Refresh the presence of the connected bots in the store, and send outcomes.

        Close the connections of bots that have left or whose token was renewed.
        """
        connected = [session for session in self._sessions.values() if session.link is not None]
        await self._store(
            remote_bots.extend_presence, [each.version for each in connected], self._control
        )
        # Taken before the store is read: a token that is newer than the answer is not in it.
        tokens = [session.token for session in connected]
        self._known_tokens = await asyncio.to_thread(remote_bots.token_hashes, self._engine)
        for session, token in zip(connected, tokens, strict=True):
            if session.link is None:
                continue
            if session.token == token and token not in self._known_tokens:
                session.link.end("its token was renewed; connect with the new one.")
            await self._tell_outcomes(session)
            if session.link is not None and session.has_left():
                session.link.end()

    async def seat(self, order: relay_pb2.SeatRequest) -> tuple[RelaySession, RelaySeat]:
        """Create a seat for a bot and start its server.

        Args:
            order: names the bot and the match. With `even_absent`, the seat is created even if the
                bot is disconnected or accepts no more tables.

        Raises:
            BotNotSeatable: the bot is not connected or accepts no more tables.
        """
        session = self._sessions.get(order.version)
        if session is None and order.even_absent:
            name = order.version.partition("@")[0]
            session = self._sessions[order.version] = RelaySession(order.version, name, "", "", 1)
        if session is None or (session.link is None and not order.even_absent):
            raise BotNotSeatable(f"{order.version} is not connected.")
        if not session.accepts(order.match) and not order.even_absent:
            raise BotNotSeatable(f"{order.version} takes no more tables at the moment.")
        number = next(self._numbers)
        owner_of = session

        def asked(request_bytes: int) -> None:
            self._work.grant(owner_of.owner, request_bytes, time.monotonic())

        socket = self._sockets / f"{number}.bot"
        seat = RelaySeat(number, order.match, socket, session.send, asked)
        session.seats[number] = seat
        session.played.add(order.match)
        await seat.listen()
        await self._tell_room(session)
        return session, seat

    async def clear(self, session: RelaySession, seat: RelaySeat) -> None:
        """Close a seat whose table is finished."""
        await seat.close()
        del session.seats[seat.number]
        self._forget(session)
        await self._tell_room(session)

    def _forget(self, session: RelaySession) -> None:
        if session.link is None and not session.seats:
            self._sessions.pop(session.version, None)

    async def _tell_room(self, session: RelaySession) -> None:
        await self._store(remote_bots.record_free_tables, session.version, session.free_tables)

    async def _tell_outcomes(self, session: RelaySession) -> None:
        """Send a bot the outcomes of its closed matches."""
        for match in session.played - session.matches:
            outcome = await asyncio.to_thread(outcome_of, self._engine, match, session.version)
            if outcome is not None:
                session.played.discard(match)
                session.send(relay_pb2.ConnectResponse(outcome=outcome))

    async def _is_elsewhere(self, version: str) -> bool:
        """Whether the bot is connected to another relay of this arena that still answers."""

        def ask() -> bool:
            bot = remote_bots.find_remote_bot(self._engine, version)
            control = remote_bots.relay_address(self._engine, version).address
            other = bot is not None and bot.is_connected and control not in ("", self._control)
            return other and grpc_probe.answers(control)

        return await asyncio.to_thread(ask)

    async def _refusal(
        self, code: grpc.StatusCode, version: str, sentence: str, peer: str
    ) -> ConnectionRefused:
        log.warning("%s was refused, from %s: %s", version, peer, sentence)
        await self._store(remote_bots.record_refused, version, sentence)
        return ConnectionRefused(code, sentence)

    async def _store(self, write: object, *what: object) -> None:
        """Write to the store.

        If that fails, log a warning; the next tick writes the presence again.
        """
        assert callable(write)
        try:
            await asyncio.to_thread(write, self._engine, *what)
        except (SQLAlchemyError, StoreError) as error:
            log.warning("the store cannot be written: %s", error)


def outcome_of(engine: Engine, match: str, version: str) -> relay_pb2.Outcome | None:
    """Return the outcome of a match for one entrant; None if it is open or unknown."""
    try:
        record = listing.find_match(engine, match)
    except NotFound:
        return None
    others = [name for name in record.entrants if name != version]
    outcome = relay_pb2.Outcome(match=match, opponents=others)
    if record.state in (MatchState.VOID, MatchState.CANCELLED):
        outcome.void_reason = record.reason or f"the match was {record.state.lower()}."
        return outcome
    if record.state != MatchState.CLOSED:
        return None
    closed = results.of_match(engine, match)
    entrant = closed.entrants.index(version)
    for game in closed.games:
        outcome.games += 1
        outcome.wins += game.is_won(entrant)
        outcome.draws += game.is_drawn(entrant)
        outcome.faults += game.faults[entrant]
    scores = [game.scores for game in closed.games if game.scores is not None]
    totals = [sum(column) for column in zip(*scores, strict=True)] or [0] * len(closed.entrants)
    outcome.points = totals[entrant]
    outcome.others.extend(total for n, total in enumerate(totals) if n != entrant)
    return outcome

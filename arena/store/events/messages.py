"""Events of matches as small JSON messages over Redis (docs/reference/feed.md).

Any event may be lost at any time without an effect on results. The store is authoritative, and
subscribers read it at intervals. Events of an open match contain only information that is public to
everyone at its tables.

    arena.store.events.publisher     publishes events
    listen                     receives events
    last_positions             returns the current positions, for late subscribers
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from arena.system.backoff import Backoff

if TYPE_CHECKING:
    from redis import Redis as SyncRedis
    from redis.asyncio import Redis

MAX_CHARACTERS: Final = 128 * 1024
"""Maximum number of characters of a message; longer ones are ignored."""
POSITION_SECONDS: Final = 30
"""Time in seconds after which the last position of a match expires, unless it is renewed."""

_CHANNEL = "pokearena:news"
_POSITION = "pokearena:position:"
_SILENT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

log = logging.getLogger("arena.store.events")
_Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A worker has begun or resumed a match."""

    match: str
    tournament: str
    attempt: _Count


@dataclass(frozen=True, slots=True)
class Position:
    """The public state of a game."""

    match: str
    table: _Count
    game: _Count
    """Number of the game within the match."""
    board: _Count
    decision: _Count
    """Number of decisions made in the game so far."""
    actors: tuple[_Count, ...]
    """Seats that act now; empty if the game is over."""
    seating: tuple[str, ...]
    """The version at each seat."""
    view: Mapping[str, Any]
    """The public view, in the JSON form of the protocol's ``View``."""
    bank_ms: tuple[_Count, ...] = ()
    """Milliseconds left in the bank of each seat; empty if unknown."""
    notes: tuple[str, ...] = ()
    """Latest note of each seat; empty unless the organiser shows the notes of open matches."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """A game of a match is over. Some of these events are omitted if games are short."""

    match: str
    games: _Count
    """Number of finished games of the match."""
    planned: _Count
    """Total number of games of the match."""


@dataclass(frozen=True, slots=True)
class MatchClosed:
    """The last game of a match is over: its result and its seed are public."""

    match: str
    tournament: str


@dataclass(frozen=True, slots=True)
class TournamentChanged:
    """A tournament has new matches, or is over."""

    id: str
    state: str


@dataclass(frozen=True, slots=True)
class _Type:
    """The member of all messages."""

    type: str


Event = MatchStarted | Position | GameOver | MatchClosed | TournamentChanged

_TYPES: Final[dict[str, type[Event]]] = {
    "match_started": MatchStarted,
    "position": Position,
    "game_over": GameOver,
    "match_closed": MatchClosed,
    "tournament": TournamentChanged,
}
_NAMES: Final = {kind: name for name, kind in _TYPES.items()}


def name_of(event: Event) -> str:
    """Return the type name of an event in messages, such as "match_started"."""
    return _NAMES[type(event)]


def text_of(event: Event) -> str:
    """Return the message as one line of JSON."""
    return json.dumps({"type": name_of(event), **asdict(event)}, separators=(",", ":"))


def parse(message: str | bytes) -> Event | None:
    """Return the event in a message; None if the message is not a valid event."""
    if len(message) > MAX_CHARACTERS:
        return None
    try:
        kind = _TYPES.get(msgspec.json.decode(message, type=_Type).type)
        return None if kind is None else msgspec.json.decode(message, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def channel_of(client: Redis | SyncRedis) -> str:
    """Return the channel of the arena that uses this client's database."""
    return channel(int(client.connection_pool.connection_kwargs.get("db") or 0))


def channel(database: int) -> str:
    """Return the channel name for a database; Redis shares channels between all databases."""
    return f"{_CHANNEL}:{database}"


def position_key(match: str) -> str:
    """Return the Redis key of the last position of a match."""
    return _POSITION + match


def connect(url: str) -> Redis:
    """Return an asyncio client, which connects at its first use.

    After an error redis-py connects and subscribes again, and then discards that connection if no
    retry is left. So one retry is needed to receive what is sent after the subscription.
    """
    from redis import asyncio as redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return redis.Redis.from_url(url, socket_connect_timeout=5, retry=Retry(NoBackoff(), 1))


async def last_positions(client: Redis, matches: Sequence[str]) -> dict[str, Position]:
    """Return the last position of each of these matches that is being played, by match id.

    Raises:
        RedisError: Redis does not answer.
    """
    if not matches:
        return {}
    texts = await client.mget([position_key(match) for match in matches])
    parsed = {match: parse(text) for match, text in zip(matches, texts, strict=True) if text}
    return {match: event for match, event in parsed.items() if isinstance(event, Position)}


async def listen(url: str) -> AsyncGenerator[Event]:
    """Yield all events from now on; reconnect indefinitely while Redis is unavailable.

    Events published while the connection is down are lost.
    """
    from redis.exceptions import RedisError

    backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
    is_connected = True
    while True:
        client = connect(url)
        try:
            async with aclosing(_receive(client)) as events:
                async for event in events:
                    is_connected = True
                    backoff.reset()
                    yield event
        except (RedisError, OSError) as error:
            if is_connected:
                log.warning("no events: Redis is not available: %s", error)
            is_connected = False
        finally:
            await client.aclose()
        await asyncio.sleep(backoff.after())


async def _receive(client: Redis) -> AsyncGenerator[Event]:
    """Yield the events of one connection until it is silent, that is, cut or frozen."""
    async with client.pubsub() as pubsub:
        await pubsub.subscribe(channel_of(client))
        is_ping_sent = False
        while True:
            message = await pubsub.get_message(timeout=_SILENT_SECONDS)
            if message is None:
                if is_ping_sent:
                    return
                await pubsub.ping()
            is_ping_sent = message is None
            if message is not None and message["type"] == "message":
                event = parse(message["data"])
                if event is not None:
                    yield event

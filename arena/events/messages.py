"""What happens while matches are played, as small messages over Redis (docs/feed.md).

Redis carries news as it carries hints: any of it may be lost at any moment, and changes nothing.
The truth is in the store, and who shows news looks there now and then. Of a match that is open
they hold nothing but what everybody at its tables knows.

    arena.events.publisher     tells them
    listen           hears them
    last_positions   where matches stand, for somebody who comes later
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, get_type_hints

if TYPE_CHECKING:
    from redis import Redis as SyncRedis
    from redis.asyncio import Redis

    from referee.games.contract import View

LONGEST: Final = 128 * 1024
"""Characters of a message; what is longer is none of ours."""
POSITION_SECONDS: Final = 30
"""So long the last position of a match stays in Redis, unless it is renewed."""

_CHANNEL = "pokearena:news"
_POSITION = "pokearena:position:"
_SILENT_SECONDS = 10.0
_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

log = logging.getLogger("arena.news")


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A worker has begun with a match, or goes on with it."""

    match: str
    tournament: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Position:
    """Where a game stands, as everybody at the table knows it."""

    match: str
    table: int
    game: int
    """The game's number within the match."""
    board: int
    decision: int
    """How many decisions have been made in the game."""
    actors: tuple[int, ...]
    """The seats that act now; none: the game is over."""
    seating: tuple[str, ...]
    """The version at every seat."""
    view: Mapping[str, Any]
    """What is public, as the JSON form of the protocol's ``View``."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """A game of a match is over. Some are not told where they are short."""

    match: str
    games: int
    """How many of the match are over."""
    planned: int
    """How many it has."""


@dataclass(frozen=True, slots=True)
class MatchClosed:
    """The last game of a match is over: its result and its seed are public."""

    match: str
    tournament: str


@dataclass(frozen=True, slots=True)
class TournamentChanged:
    """A tournament has got more matches, or is over."""

    id: str
    state: str


News = MatchStarted | Position | GameOver | MatchClosed | TournamentChanged

_TYPES: Final[dict[str, type[News]]] = {
    "match_started": MatchStarted,
    "position": Position,
    "game_over": GameOver,
    "match_closed": MatchClosed,
    "tournament": TournamentChanged,
}
_FIELDS: Final = {kind: get_type_hints(kind) for kind in _TYPES.values()}
_NAMES: Final = {kind: name for name, kind in _TYPES.items()}


def name_of(news: News) -> str:
    """What it is called in messages, such as "match_started"."""
    return _NAMES[type(news)]


def text_of(news: News) -> str:
    """The message, as one line of JSON."""
    return json.dumps({"type": name_of(news), **asdict(news)}, separators=(",", ":"))


def parse(message: str | bytes) -> News | None:
    """What a message says; None if it is none of ours."""
    try:
        given = json.loads(message) if len(message) <= LONGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    kind = _TYPES.get(str(given.get("type")))
    if kind is None:
        return None
    values: dict[str, Any] = {}
    for name, hint in _FIELDS[kind].items():
        value = given.get(name)
        if not _fits(value, hint):
            return None
        values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


def view_of(position: Position) -> View:
    """What is public, as the rules have it.

    Raises DecodeError if it is no view of a registered game.
    """
    from referee.replay import view_of_json

    return view_of_json(position.view)


def channel_of(client: Redis | SyncRedis) -> str:
    """The channel of the arena that a client belongs to."""
    return channel(int(client.connection_pool.connection_kwargs.get("db") or 0))


def channel(database: int) -> str:
    """The channel of an arena: Redis has one set of channels for all its databases."""
    return f"{_CHANNEL}:{database}"


def position_key(match: str) -> str:
    """Where the last position of a match is kept."""
    return _POSITION + match


def connect(url: str) -> Redis:
    """A client for asyncio. Connects when first used."""
    from redis import asyncio as redis

    return redis.Redis.from_url(url, socket_connect_timeout=5)


async def last_positions(client: Redis, matches: Sequence[str]) -> dict[str, Position]:
    """The last position of each of these matches that is being played, by its id.

    Raises RedisError.
    """
    if not matches:
        return {}
    found = await client.mget([position_key(match) for match in matches])
    parsed = {match: parse(text) for match, text in zip(matches, found, strict=True) if text}
    return {match: news for match, news in parsed.items() if isinstance(news, Position)}


async def listen(url: str) -> AsyncGenerator[News]:
    """All news from now on. Connects again, for ever, when Redis is away.

    What is told meanwhile is not heard.
    """
    from redis.exceptions import RedisError

    pause = _PAUSE_SECONDS
    while True:
        client = connect(url)
        try:
            async with aclosing(_heard(client)) as heard:
                async for news in heard:
                    pause = _PAUSE_SECONDS
                    yield news
        except (RedisError, OSError) as error:
            if pause == _PAUSE_SECONDS:
                log.warning("no news, Redis is away: %s", error)
        finally:
            await client.aclose()
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


async def _heard(client: Redis) -> AsyncGenerator[News]:
    """News over one connection, until it is silent: then it is cut, or Redis is frozen."""
    async with client.pubsub() as pubsub:
        await pubsub.subscribe(channel_of(client))
        asked = False
        while True:
            message = await pubsub.get_message(timeout=_SILENT_SECONDS)
            if message is None:
                if asked:
                    return
                await pubsub.ping()
            asked = message is None
            if message is not None and message["type"] == "message":
                news = parse(message["data"])
                if news is not None:
                    yield news


def _fits(value: object, hint: Any) -> bool:
    """Whether a value of JSON is what a field holds."""
    if hint is str:
        return isinstance(value, str)
    if hint is int:
        return type(value) is int and value >= 0
    if hint in (tuple[int, ...], tuple[str, ...]):
        return isinstance(value, list) and all(_fits(one, hint.__args__[0]) for one in value)
    return isinstance(value, dict)

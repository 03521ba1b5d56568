"""Publish the packages of games for workers, and compare them with those of the workers.

The sweeper runs in the organiser's process. It publishes the packages of its games in Redis, with
the hash of their code. A worker leases a match of such a game only if its own code has this hash.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from redis.exceptions import RedisError

from arena.services.queue.worker_registrations import WorkerInfo
from arena.system.redis_connection import connect
from referee.games.contract import SetupError
from referee.games.game_packages import BUILT_IN, game_code, packaged_games
from referee.games.registry import find_game

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger("arena.worker")

_PUBLISHED: Final = "pokearena:games"


class GamePackage(msgspec.Struct, frozen=True):
    """The package of a game, with the SHA-256 of its code."""

    name: str
    version: str
    code: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}, code {self.code[:8]}"


Packages = Mapping[str, GamePackage]
"""Packages by the id of their game."""


def own_packages() -> Packages:
    """Return the packages of the games that this process plays."""
    return {game: GamePackage(**game_code(game)) for game in packaged_games()}


def publish_packages(connection: Redis) -> None:
    """Publish the packages of this process; raises redis.exceptions.RedisError."""
    connection.set(_PUBLISHED, msgspec.json.encode(own_packages()))


def published_packages(connection: Redis) -> Packages:
    """Return the packages that the organiser published; none if they cannot be read.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    value = connection.get(_PUBLISHED)
    if not isinstance(value, bytes):
        return {}
    try:
        return msgspec.json.decode(value, type=dict[str, GamePackage])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def package_check(redis: str) -> Callable[[str], None]:
    """Read what the organiser publishes; return a function that checks a game (`check_package`).

    Without Redis, the function refuses all games of packages.
    """
    if not packaged_games():
        return partial(check_package, published={})
    try:
        with connect(redis) as connection:
            return partial(check_package, published=published_packages(connection))
    except RedisError as error:
        log.warning("the games of the organiser cannot be read: %s", error)
        return partial(check_package, published={})


def check_package(game: str, published: Packages) -> None:
    """Check that this process has the same code of a game as the organiser.

    Raises:
        SetupError: it does not, or the organiser did not publish the game.
    """
    find_game(game)
    if game in BUILT_IN:
        return
    installed, expected = own_packages()[game], published.get(game)
    if expected is None:
        raise SetupError(f"the organiser did not publish the game {game}", code="absent-game")
    if installed.code != expected.code:
        sentence = f"the organiser plays {game} of {expected}; this worker has {installed}"
        raise SetupError(sentence, code="other-package")


def games_without_workers(packages: Packages, workers: Sequence[WorkerInfo]) -> tuple[str, ...]:
    """Return the games that none of the live workers may play; none without live workers."""
    alive = [worker for worker in workers if worker.alive]
    return tuple(game for game in packages if alive and not _players(game, packages, alive))


def waiting_reason(game: str, packages: Packages, workers: Sequence[WorkerInfo]) -> str:
    """Return why matches of a game wait for a worker, as a sentence; empty if they do not."""
    if game not in games_without_workers(packages, workers):
        return ""
    return (
        f"Matches of {game} wait: no worker has {packages[game]}. Install this version on a machine"
        " of workers, allow it there and restart the workers."
    )


def game_problems(packages: Packages, workers: Sequence[WorkerInfo]) -> list[str]:
    """Return one clause for each game that some live workers do not play."""
    alive = [worker for worker in workers if worker.alive]
    return [
        f"matches of {game} ({package}) are not played by {', '.join(others)}"
        for game, package in packages.items()
        if (others := _others(_players(game, packages, alive), alive))
    ]


def _players(game: str, packages: Packages, alive: Sequence[WorkerInfo]) -> set[str]:
    return {worker.name for worker in alive if worker.games.get(game) == packages[game].code}


def _others(players: set[str], alive: Sequence[WorkerInfo]) -> list[str]:
    return [worker.name for worker in alive if worker.name not in players]

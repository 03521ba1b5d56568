"""Win probabilities of live tables, computed in a process of low priority while pages show them.

A page requests the probabilities of the position that it shows. One position is computed at a time;
of each table only the newest requested one waits. The result changes the topic of the position, so
that the page is rendered again.

A probability is computed from what all spectators know. It would still help a player, so a table
has none if one of its bots runs elsewhere and could read the page.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

from arena.records.analysis.engine import NoEngine, engine_of
from arena.store.events.messages import Position
from arena.store.match_settings import MatchSettings
from arena.system import parent_death_signal
from arena.web.data.changes import Changes, position_of

log = logging.getLogger("arena.web")

HELPS_A_PLAYER: Final = (
    "This table has no win probability, because a bot that runs elsewhere could read it."
)
CANNOT_REDEAL: Final = (
    "This game has no win probability, because no engine can deal its hidden cards again and play."
)
_MODULE: Final = "arena.services.win_probability_process"
_KEPT: Final = 200
"""Number of tables whose last probabilities are stored."""
_IDLE_SECONDS: Final = 60.0
"""Time without a request after which the process ends, until the next request."""


@dataclass(frozen=True, slots=True)
class LiveProbability:
    """The win probability at a live table.

    Args:
        decision: the number of decisions before the position.
        by_seat: the probability of each seat's side, and its standard error; empty if the position
            cannot be rated.
    """

    game: int
    decision: int
    by_seat: tuple[tuple[float, float], ...]
    engine: str

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "decision": self.decision,
            "by_seat": [round(mean, 3) for mean, _ in self.by_seat],
            "engine": self.engine,
        }


@dataclass(frozen=True, slots=True)
class _Request:
    """A position to compute."""

    position: Position
    settings: MatchSettings

    def line(self) -> bytes:
        values = {
            "game": self.settings.game,
            "options": dict(self.settings.options),
            "seats": len(self.position.seating),
            "view": dict(self.position.view),
        }
        return json.dumps(values).encode() + b"\n"


class WinProbabilities:
    """Computes probabilities on request. `of` may be called from any thread.

    Args:
        changes: receives a change of the position for each result.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._lock = Lock()
        self._waiting: dict[str, _Request] = {}
        self._results: OrderedDict[str, tuple[_Request, LiveProbability]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    def of(self, position: Position, settings: MatchSettings) -> LiveProbability | None:
        """Return the last probability of the game of a position, and request that of the position.

        Simultaneous choices leave the public view as it is, and with it the probability.
        """
        with self._lock:
            result = self._results.get(position.match)
            is_new = result is None or result[0].position.view != position.view
            if is_new and self._loop is not None:
                self._waiting[position.match] = _Request(position, settings)
                self._loop.call_soon_threadsafe(self._wake.set)
            shown = None if result is None else result[1]
        return shown if shown is not None and shown.game == position.game else None

    async def run(self) -> None:
        """Compute what is requested, forever."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            await self._compute_until_idle()

    async def _compute_until_idle(self) -> None:
        """Compute in one process, until nothing is requested for a while."""
        command = parent_death_signal.killed_with_parent([sys.executable, "-m", _MODULE])
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            with suppress(TimeoutError):
                while True:
                    request = await asyncio.wait_for(self._next(), _IDLE_SECONDS)
                    began = time.monotonic()
                    self._store(request, await _answer(process, request))
                    # The process takes at most a quarter of a processor.
                    await asyncio.sleep(3 * (time.monotonic() - began))
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _next(self) -> _Request:
        """Return the request that has waited longest."""
        while True:
            with self._lock:
                if self._waiting:
                    return self._waiting.pop(next(iter(self._waiting)))
                self._wake.clear()
            await self._wake.wait()

    def _store(self, request: _Request, by_seat: list[list[float]] | None) -> None:
        position = request.position
        values = tuple((mean, error) for mean, error in by_seat or ())
        engine = engine_of(request.settings.game).name
        shown = LiveProbability(position.game, position.decision, values, engine)
        with self._lock:
            self._results[position.match] = request, shown
            self._results.move_to_end(position.match)
            if len(self._results) > _KEPT:
                self._results.popitem(last=False)
        self._changes.record(position_of(position.match))


async def _answer(
    process: asyncio.subprocess.Process, request: _Request
) -> list[list[float]] | None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(request.line())
    await process.stdin.drain()
    line = await process.stdout.readline()
    if not line:
        raise ConnectionResetError("the process of win probabilities has ended")
    by_seat: list[list[float]] | None = json.loads(line)
    return by_seat


def why_hidden(game: str, entrants: Collection[str], hosted: AbstractSet[str]) -> str:
    """Return why a live table has no win probability, as a sentence; empty if it has one.

    Args:
        entrants: the versions at the table.
        hosted: the versions that run on the arena's machines.
    """
    if not _has_engine(game):
        return CANNOT_REDEAL
    return "" if hosted >= set(entrants) else HELPS_A_PLAYER


@cache
def _has_engine(game: str) -> bool:
    try:
        engine_of(game)
    except NoEngine:
        return False
    return True

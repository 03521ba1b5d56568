"""Answers that are written already: kept while nothing that they depend on has changed.

A page that is asked for by many is drawn, written down and compressed once a change, not once a
request; those who ask for it meanwhile wait for the one drawing.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from arena.web.data.changes import Changes

Key = tuple[str, ...]
"""What was asked for: address, kind, query."""
KEPT_BYTES = 64 * 2**20
"""So much is kept at the most; what was not asked for longest goes first."""
_LARGEST_BYTES = 8 * 2**20
_SMALLEST_BYTES = 1000
_LEVEL = 5
_SLOW_SECONDS = 0.1
_OLD_SECONDS = 30.0
"""A page that takes long to write is shown as it was up to so long ago, while it is written."""


@dataclass(frozen=True)
class Answer:
    """A page as it goes out.

    topics: what it depends on. fresh: for how many seconds it is kept if none of them changes,
    because it may tell how long ago something was.
    """

    body: bytes
    status: int
    media_type: str
    headers: Mapping[str, str]
    topics: frozenset[str]
    fresh: float

    @cached_property
    def tag(self) -> str:
        """What is the same as long as the body is. Weak: it holds for the compressed one too."""
        return f'W/"{hashlib.blake2b(self.body, digest_size=12).hexdigest()}"'

    @cached_property
    def compressed(self) -> bytes | None:
        """The body by gzip; None if that is not worth it."""
        if len(self.body) < _SMALLEST_BYTES:
            return None
        return gzip.compress(self.body, _LEVEL, mtime=0)

    def is_had(self, tags: str) -> bool:
        """Whether it is among these, which somebody has (the header If-None-Match)."""
        own = self.tag.removeprefix("W/")
        return any(each.strip().removeprefix("W/") in ("*", own) for each in tags.split(","))

    def __len__(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: Answer
    number: int
    written: float
    took: float


class Answers:
    """The answers that are kept. For the one thread of the event loop."""

    def __init__(self, changes: Changes, most: int = KEPT_BYTES) -> None:
        self._changes = changes
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._coming: dict[Key, asyncio.Task[Answer]] = {}

    @property
    def is_writing(self) -> bool:
        """Whether any is being written."""
        return bool(self._coming)

    async def get(self, key: Key, write: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer to this; it is written if it is not kept, or has changed since.

        What `write` raises is raised for all who wait for it, and is not kept.
        """
        kept = self._kept.get(key)
        if kept is not None and self._is_good(kept):
            self._kept.move_to_end(key)
            return kept.answer
        coming = self._coming.get(key)
        if coming is None:
            coming = self._coming[key] = asyncio.create_task(self._write(key, write))
            # If nobody is left who waits for it, what it raises is nobody's.
            coming.add_done_callback(lambda task: task.cancelled() or task.exception())
        if kept is not None and self._will_do(kept):
            return kept.answer
        # Who goes away must not take the drawing from the others.
        return await asyncio.shield(coming)

    def _is_good(self, kept: _Kept) -> bool:
        changed = self._changes.newest(kept.answer.topics)
        age = time.monotonic() - kept.written
        return changed <= kept.number and age < kept.answer.fresh

    def _will_do(self, kept: _Kept) -> bool:
        age = time.monotonic() - kept.written
        return kept.took > _SLOW_SECONDS and age < _OLD_SECONDS

    async def _write(self, key: Key, write: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            # Before it is drawn: what happens meanwhile may be in it, or not.
            number, began = self._changes.last, time.monotonic()
            answer = await write()
            took = time.monotonic() - began
            self._keep(key, _Kept(answer, number, began, took))
            return answer
        finally:
            del self._coming[key]

    def _keep(self, key: Key, kept: _Kept) -> None:
        old = self._kept.pop(key, None)
        self._bytes -= len(old.answer) if old else 0
        if len(kept.answer) > _LARGEST_BYTES or kept.answer.fresh <= 0:
            return
        self._kept[key] = kept
        self._bytes += len(kept.answer)
        while self._bytes > self._most:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone.answer)

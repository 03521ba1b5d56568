"""Response cache: serialized responses, valid until a topic on which they depend changes.

A popular page is rendered, serialized and compressed once per change instead of once per request.
Simultaneous requests wait for the same rendering.
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
"""Path, kind and query of the request."""
KEPT_BYTES = 64 * 2**20
"""Size limit of the cache; the least recently used responses are removed first."""
_LARGEST_BYTES = 8 * 2**20
_SMALLEST_BYTES = 1000
_LEVEL = 5
_SLOW_SECONDS = 0.1
_OLD_SECONDS = 30.0
"""Maximum age, in seconds, of a slow page that is served while its new version is rendered."""


@dataclass(frozen=True)
class CachedResponse:
    """A response.

    Args:
        body: the uncompressed body.
        status: the HTTP status.
        media_type: the media type.
        headers: further headers.
        topics: the topics on which it depends.
        fresh: seconds for which it is valid without a change, because it may contain relative
            times.
    """

    body: bytes
    status: int
    media_type: str
    headers: Mapping[str, str]
    topics: frozenset[str]
    fresh: float

    @cached_property
    def tag(self) -> str:
        """ETag of the body. It is weak because it also stands for the compressed body."""
        return f'W/"{hashlib.blake2b(self.body, digest_size=12).hexdigest()}"'

    @cached_property
    def compressed(self) -> bytes | None:
        """The body compressed with gzip; None if it is too small."""
        if len(self.body) < _SMALLEST_BYTES:
            return None
        return gzip.compress(self.body, _LEVEL, mtime=0)

    def is_had(self, tags: str) -> bool:
        """Whether the tag is in an If-None-Match header."""
        own_tag = self.tag.removeprefix("W/")
        return any(each.strip().removeprefix("W/") in ("*", own_tag) for each in tags.split(","))

    def __len__(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    answer: CachedResponse
    number: int
    written: float
    took: float


class ResponseCache:
    """The stored responses. Use it from the event loop's thread only."""

    def __init__(self, changes: Changes, most: int = KEPT_BYTES) -> None:
        self._changes = changes
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[Key, _CacheEntry] = OrderedDict()
        self._coming: dict[Key, asyncio.Task[CachedResponse]] = {}

    @property
    def is_writing(self) -> bool:
        """Whether a response is being rendered."""
        return bool(self._coming)

    async def get(self, key: Key, write: Callable[[], Awaitable[CachedResponse]]) -> CachedResponse:
        """Return the stored response, or render it if it is missing or outdated.

        Exceptions of `write` are raised for all waiting requests and are not stored.
        """
        kept = self._kept.get(key)
        if kept is not None and self._is_good(kept):
            self._kept.move_to_end(key)
            return kept.answer
        coming = self._coming.get(key)
        if coming is None:
            coming = self._coming[key] = asyncio.create_task(self._write(key, write))
            # If all waiting requests were cancelled, this prevents a warning about the exception.
            coming.add_done_callback(lambda task: task.cancelled() or task.exception())
        if kept is not None and self._will_do(kept):
            return kept.answer
        # A cancelled request must not cancel the rendering for the others.
        return await asyncio.shield(coming)

    def _is_good(self, kept: _CacheEntry) -> bool:
        changed = self._changes.newest(kept.answer.topics)
        age = time.monotonic() - kept.written
        return changed <= kept.number and age < kept.answer.fresh

    def _will_do(self, kept: _CacheEntry) -> bool:
        age = time.monotonic() - kept.written
        return kept.took > _SLOW_SECONDS and age < _OLD_SECONDS

    async def _write(
        self, key: Key, write: Callable[[], Awaitable[CachedResponse]]
    ) -> CachedResponse:
        try:
            # Read the number before the rendering, which may or may not include later changes.
            number, began = self._changes.last, time.monotonic()
            answer = await write()
            took = time.monotonic() - began
            self._keep(key, _CacheEntry(answer, number, began, took))
            return answer
        finally:
            del self._coming[key]

    def _keep(self, key: Key, kept: _CacheEntry) -> None:
        old = self._kept.pop(key, None)
        self._bytes -= len(old.answer) if old else 0
        if len(kept.answer) > _LARGEST_BYTES or kept.answer.fresh <= 0:
            return
        self._kept[key] = kept
        self._bytes += len(kept.answer)
        while self._bytes > self._most:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone.answer)

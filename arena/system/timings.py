"""How long things took in processes that end soon: noted here, summed up in Redis.

A work horse lives for one match, so nobody could ask it. What it has noted it adds to sums in
Redis, where it is not lost with the process; with Redis it is, and then counting begins anew.
"""

from __future__ import annotations

import bisect
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from redis import Redis

KEY: Final = "pokearena:timings"
BOUNDS: Final = tuple(2.0**n / 1000 for n in range(16))
"""Seconds: a time counts at the first bound that is not below it, or behind all of them."""
TRANSACTION: Final = "transaction"
"""A transaction that writes to the store, from its wish to its commit, by what it does."""
LAG: Final = "lag"
"""By how much a worker woke later than it had asked for: how overloaded its machine is."""

_SUM: Final = "sum"


@dataclass(frozen=True, slots=True)
class Times:
    """Times that were counted: how many at each bound and, as the last, behind all; their sum."""

    counts: tuple[int, ...]
    seconds: float


class Timings:
    """Times that were noted and not sent yet. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()

    def note(self, kind: str, label: str, seconds: float) -> None:
        """Counts a time of a kind, under a label (without a colon)."""
        place = bisect.bisect_left(BOUNDS, seconds)
        with self._lock:
            self._counts[kind, label, place] += 1
            self._seconds[kind, label] += seconds  # type: ignore[assignment]

    @contextlib.contextmanager
    def timed(self, kind: str, label: str) -> Iterator[None]:
        """Counts how long the block takes, if it does not fail."""
        began = time.perf_counter()
        yield
        self.note(kind, label, time.perf_counter() - began)

    def forget(self) -> None:
        """Forgets what was not sent: a forked process must not send what its parent noted."""
        with self._lock:
            self._counts, self._seconds = Counter(), Counter()

    def send(self, client: Redis) -> None:
        """Adds what was noted to the sums in Redis, or loses it. Raises RedisError."""
        with self._lock:
            counts, seconds = self._counts, self._seconds
            self._counts, self._seconds = Counter(), Counter()
        if not counts:
            return
        with client.pipeline() as pipeline:
            for (kind, label, place), times in counts.items():
                pipeline.hincrby(KEY, f"{kind}:{label}:{place}", times)
            for (kind, label), sum_ in seconds.items():
                pipeline.hincrbyfloat(KEY, f"{kind}:{label}:{_SUM}", float(sum_))
            pipeline.execute()


HERE: Final = Timings()
"""Those of this process."""


def read(client: Redis) -> Mapping[str, Mapping[str, Times]]:
    """All that was sent: by kind, then by label. Raises RedisError."""
    counts: dict[tuple[str, str], list[int]] = {}
    seconds: dict[tuple[str, str], float] = {}
    for field, value in client.hgetall(KEY).items():
        name = field.decode(errors="replace") if isinstance(field, bytes) else field
        kind, label, place = [*name.split(":"), "", ""][:3]
        if place != _SUM and not (place.isdigit() and int(place) <= len(BOUNDS)):
            continue
        of = counts.setdefault((kind, label), [0] * (len(BOUNDS) + 1))
        if place == _SUM:
            seconds[kind, label] = float(value)
        else:
            of[int(place)] += int(value)
    found: dict[str, dict[str, Times]] = {}
    for (kind, label), of in sorted(counts.items()):
        found.setdefault(kind, {})[label] = Times(tuple(of), seconds.get((kind, label), 0.0))
    return found

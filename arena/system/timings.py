"""Durations measured in short-lived processes, and their sums in Redis.

A worker process lives for one match, so it cannot be scraped. It adds its measurements to sums in
Redis, which outlive the process. When Redis loses its data, counting starts again at 0.
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
"""Upper bounds of the histogram in seconds; longer durations are counted after the last bound."""
TRANSACTION: Final = "transaction"
"""Duration of a write transaction from its request to its commit; the label is its kind."""
LAG: Final = "lag"
"""Delay of a worker's timer, a measure of the load on its machine."""

_SUM: Final = "sum"


@dataclass(frozen=True, slots=True)
class DurationSum:
    """A histogram: number of durations per bound, then of those above all bounds; and their sum."""

    counts: tuple[int, ...]
    seconds: float


class Timings:
    """Thread-safe collection of durations that have not been sent yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()

    def note(self, kind: str, label: str, seconds: float) -> None:
        """Count a duration of a kind, under a label without a colon."""
        place = bisect.bisect_left(BOUNDS, seconds)
        with self._lock:
            self._counts[kind, label, place] += 1
            self._seconds[kind, label] += seconds  # type: ignore[assignment]

    @contextlib.contextmanager
    def timed(self, kind: str, label: str) -> Iterator[None]:
        """Count the duration of the block, if it does not raise an error."""
        began = time.perf_counter()
        yield
        self.note(kind, label, time.perf_counter() - began)

    def forget(self) -> None:
        """Discard unsent durations: a forked process must not send those of its parent."""
        with self._lock:
            self._counts, self._seconds = Counter(), Counter()

    def send(self, client: Redis) -> None:
        """Add the unsent durations to the sums in Redis; on failure they are lost.

        Raises:
            RedisError: Redis is not reachable or refuses the command.
        """
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
"""The durations of this process."""


def read(client: Redis) -> Mapping[str, Mapping[str, DurationSum]]:
    """Return all histograms in Redis, by kind and label.

    Raises:
        RedisError: Redis is not reachable or refuses the command.
    """
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
    times: dict[str, dict[str, DurationSum]] = {}
    for (kind, label), of in sorted(counts.items()):
        times.setdefault(kind, {})[label] = DurationSum(tuple(of), seconds.get((kind, label), 0.0))
    return times

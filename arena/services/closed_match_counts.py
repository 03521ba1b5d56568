"""Counts and histograms over the closed matches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine

from arena.ratings.decision_histogram import BINS
from arena.store.closed_counts import (
    ENDED,
    REMOTE,
    ClosingReader,
    EndedCounts,
    MatchClosing,
    TournamentLadders,
)

DECISION_BOUNDS: Final = tuple(2.0**n / 1000 for n in range(-1, 15))
"""Upper bounds in seconds, 0.5 ms to 16.384 s; they coincide with bin edges of decision times."""
MATCH_BOUNDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
LANGUAGES: Final = frozenset(
    (
        "c",
        "cpp",
        "go",
        "java",
        "javascript",
        "kotlin",
        "python",
        "ruby",
        "rust",
        "shell",
        "typescript",
        REMOTE,
    )
)
"""Languages with a label of their own. Others become `OTHER`: authors may write any text."""
UNKNOWN, OTHER = "unknown", "other"
MOST_BOTS: Final = 50
OTHERS: Final = "others"

Buckets = list[tuple[str, float]]


@dataclass
class Spread:
    """Histogram of durations: counts per bucket and the sum in seconds."""

    bounds: tuple[float, ...]
    seconds: float = 0.0
    counts: Counter[int] = field(default_factory=Counter)
    """Counts by the index of the first bound >= the duration; index len(bounds) is +Inf."""

    def add(self, place: int, seconds: float, times: int = 1) -> None:
        """Count `times` durations of about `seconds` each in the bucket with index `place`."""
        self.counts[min(place, len(self.bounds))] += times
        self.seconds += seconds * times

    def buckets(self) -> Buckets:
        """Return the cumulative Prometheus buckets."""
        return list(cumulated(self.bounds, self.counts))


def cumulated(bounds: tuple[float, ...], counts: Mapping[int, int]) -> Iterator[tuple[str, float]]:
    """Yield (upper bound, cumulative count) pairs from the counts per bucket, the last for +Inf."""
    total = 0
    for place, bound in enumerate((*map(repr, bounds), "+Inf")):
        total += counts.get(place, 0)
        yield bound, float(total)


class Counts:
    """Counts of played matches.

    `matches` covers all matches in the store, the others only those closed after the creation.
    """

    def __init__(self, engine: Engine) -> None:
        self._ladders = TournamentLadders(engine)
        self._closings = ClosingReader(engine)
        self._endings = EndedCounts(engine)
        self.matches: Counter[tuple[str, str]] = Counter()
        self.games: Counter[str] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.took: dict[str, Spread] = {}
        self.decisions: dict[tuple[str, str], Spread] = {}
        self.bots: dict[str, Spread] = {}

    def catch_up(self) -> None:
        """Add the matches closed since the last call.

        Raises:
            SQLAlchemyError: the store does not answer.
            StoreError: the store cannot be used.
        """
        for closing in self._closings.new():
            self._add(closing)
        ended = Counter[tuple[str, str]]()
        for tournament, states in self._endings.now().items():
            for state in ENDED:
                # Zeros are exported too, so that Prometheus can compute the increase of a new
                # series.
                ended[self._ladders.of(tournament), state.lower()] += states.get(state, 0)
        self.matches = ended

    def _add(self, closing: MatchClosing) -> None:
        match = closing.match
        form, thinking = match.ladder, match.thinking
        self.games[form] += len(match.games)
        place = sum(bound < closing.seconds for bound in MATCH_BOUNDS)
        self.took.setdefault(form, Spread(MATCH_BOUNDS)).add(place, closing.seconds)
        for game in match.games:
            self.verdicts.update((form, verdict) for verdict in game.verdicts)
        for at, version in enumerate(match.entrants):
            label = form, language(closing.languages[at])
            bins: dict[int, int] = {}
            if thinking:
                thinking[at].add_to(bins)
            for spread in (
                self.decisions.setdefault(label, _decisions()),
                self.bots.setdefault(self._bot(version), _decisions()),
            ):
                for bin_, times in bins.items():
                    count_bin(spread, bin_, times)

    def _bot(self, version: str) -> str:
        return version if version in self.bots or len(self.bots) < MOST_BOTS else OTHERS


def count_bin(spread: Spread, bin_: int, times: int) -> None:
    """Add decisions of one bin to a spread over DECISION_BOUNDS.

    Args:
        spread: the histogram.
        bin_: index of the bin, defined in arena.ratings.decision_histogram.
        times: the number of decisions.
    """
    first = 1 - round(math.log2(1000 * DECISION_BOUNDS[0]))
    spread.add(max(0, bin_ // BINS + first), 2 ** ((bin_ + 0.5) / BINS) / 1000, times)


def language(word: str) -> str:
    """Return the label value for an author's language: lower case, OTHER or UNKNOWN."""
    if not word:
        return UNKNOWN
    return word.lower() if word.lower() in LANGUAGES else OTHER


def _decisions() -> Spread:
    return Spread(DECISION_BOUNDS)

"""What closed matches add up to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine

from arena.ratings.decision_histogram import BINS
from arena.store.closed_counts import ENDED, REMOTE, Closing, Closings, Endings, Forms

DECISION_BOUNDS: Final = tuple(2.0**n / 1000 for n in range(-1, 15))
"""Seconds, where bins of decision times meet."""
MATCH_BOUNDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
LANGUAGES: Final = frozenset(
    ("c", "cpp", "go", "java", "python", "ruby", "rust", "shell", "typescript", REMOTE)
)
"""Others are told as `OTHER`: an author may write any word."""
UNKNOWN, OTHER = "unknown", "other"
MOST_BOTS: Final = 50
OTHERS: Final = "others"

Buckets = list[tuple[str, float]]


@dataclass
class Spread:
    """Times, counted up to each bound; their sum in seconds."""

    bounds: tuple[float, ...]
    seconds: float = 0.0
    counts: Counter[int] = field(default_factory=Counter)
    """By the number of the first bound that is not below; behind all of them their number."""

    def add(self, place: int, seconds: float, times: int = 1) -> None:
        """Counts some of about the same time."""
        self.counts[min(place, len(self.bounds))] += times
        self.seconds += seconds * times

    def buckets(self) -> Buckets:
        """As Prometheus has them: how many up to each bound."""
        return list(cumulated(self.bounds, self.counts))


def cumulated(bounds: tuple[float, ...], counts: Mapping[int, int]) -> Iterator[tuple[str, float]]:
    """How many up to each bound, from how many at each."""
    total = 0
    for place, bound in enumerate((*map(repr, bounds), "+Inf")):
        total += counts.get(place, 0)
        yield bound, float(total)


class Counts:
    """What has been played: matches ever, all else from now on."""

    def __init__(self, engine: Engine) -> None:
        self._forms = Forms(engine)
        self._closings = Closings(engine)
        self._endings = Endings(engine)
        self.matches: Counter[tuple[str, str]] = Counter()
        self.games: Counter[str] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.took: dict[str, Spread] = {}
        self.decisions: dict[tuple[str, str], Spread] = {}
        self.bots: dict[str, Spread] = {}

    def catch_up(self) -> None:
        """Counts what has been played since. Raises what the store raises."""
        for one in self._closings.new():
            self._add(one)
        ended = Counter[tuple[str, str]]()
        for tournament, states in self._endings.now().items():
            for state in ENDED:
                # Also where it is 0: what was not there before does not grow for Prometheus.
                ended[self._forms.of(tournament), state.lower()] += states.get(state, 0)
        self.matches = ended

    def _add(self, one: Closing) -> None:
        self.games[one.form] += one.games
        place = sum(bound < one.seconds for bound in MATCH_BOUNDS)
        self.took.setdefault(one.form, Spread(MATCH_BOUNDS)).add(place, one.seconds)
        for player in one.players:
            for verdict in player.verdicts:
                self.verdicts[one.form, verdict] += 1
            bot = self._bot(player.version)
            for spread in (
                self.decisions.setdefault((one.form, language(player.language)), _decisions()),
                self.bots.setdefault(bot, _decisions()),
            ):
                bins: dict[int, int] = {}
                player.thinking.add_to(bins)
                for bin_, times in bins.items():
                    count_bin(spread, bin_, times)

    def _bot(self, version: str) -> str:
        return version if version in self.bots or len(self.bots) < MOST_BOTS else OTHERS


def count_bin(spread: Spread, bin_: int, times: int) -> None:
    """Counts the decisions of a bin (arena.ratings.decision_histogram) in a spread over
    `DECISION_BOUNDS`."""
    first = 1 - round(math.log2(1000 * DECISION_BOUNDS[0]))
    spread.add(max(0, bin_ // BINS + first), 2 ** ((bin_ + 0.5) / BINS) / 1000, times)


def language(word: str) -> str:
    """A language as figures are told apart by it."""
    if not word:
        return UNKNOWN
    return word.lower() if word.lower() in LANGUAGES else OTHER


def _decisions() -> Spread:
    return Spread(DECISION_BOUNDS)

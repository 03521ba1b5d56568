"""Counts and histograms over the closed matches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, Engine, func, select

from arena.ratings.decision_histogram import BINS
from arena.store import closings, schema
from arena.store.bots.remote_bots import is_relayed
from arena.store.database import id_batches, reading
from arena.store.match_settings import ladder_of_row
from arena.store.matches import closed_matches
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.schema import ClosingKind, MatchState
from arena.store.tournaments.tournaments import OTHERS as NOT_CLOSED

REMOTE: Final = "remote"
"""Stands for the language of a bot that runs on its author's machine."""
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
        self._engine = engine
        self._position = closings.newest_closing_of(engine)
        self._languages: dict[str, str] = {}
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
        position = self._position
        closed: list[str] = []
        with reading(self._engine) as connection:
            while events := closings.closings_after(connection, position):
                position = events[-1].seq
                closed += [each.match for each in events if each.kind is ClosingKind.MATCH_CLOSED]
            added = [
                match for batch in id_batches(closed) for match in self._read(connection, batch)
            ]
            ended = _ended(connection)
        for match, seconds in added:
            self._add(match, seconds)
        self._position, self.matches = position, ended

    def _read(
        self, connection: Connection, ids: Sequence[str]
    ) -> Iterator[tuple[PlayedMatch, float]]:
        """Yield closed matches, and the durations of their last attempts."""
        results, matches, versions = schema.results, schema.matches, schema.versions
        query = (
            select(*results.c["match", "closed"], matches.c.leased)
            .join(matches, matches.c.id == results.c.match)
            .where(results.c.match.in_(ids))
        )
        rows = connection.execute(query).all()
        found = closed_matches.with_ids(connection, [row.match for row in rows])
        entrants = {name for match in found.values() for name in match.entrants}
        for unknown in id_batches(sorted(entrants - self._languages.keys())):
            named = select(versions.c.id, versions.c.manifest).where(versions.c.id.in_(unknown))
            for name, manifest in connection.execute(named):
                away = is_relayed(manifest) or "address" in manifest
                self._languages[name] = REMOTE if away else str(manifest.get("language", ""))
        for row in rows:
            yield found[row.match], max(0.0, row.closed - (row.leased or row.closed))

    def _add(self, match: PlayedMatch, seconds: float) -> None:
        form, thinking = match.ladder, match.thinking
        self.games[form] += len(match.games)
        place = sum(bound < seconds for bound in MATCH_BOUNDS)
        self.took.setdefault(form, Spread(MATCH_BOUNDS)).add(place, seconds)
        for game in match.games:
            self.verdicts.update((form, verdict) for verdict in game.verdicts)
        for at, version in enumerate(match.entrants):
            label = form, language(self._languages[version])
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


def _ended(connection: Connection) -> Counter[tuple[str, str]]:
    """Count the matches that have ended by ladder and state, without reading closed ones."""
    table, matches = schema.tournaments, schema.matches
    query = (
        select(matches.c.tournament, matches.c.state, func.count())
        .where(matches.c.state.in_(NOT_CLOSED))
        .group_by(matches.c.tournament, matches.c.state)
    )
    others: dict[str, dict[str, int]] = {}
    for tournament, state, number in connection.execute(query):
        others.setdefault(tournament, {})[state] = number
    ended = Counter[tuple[str, str]]()
    columns = table.c["id", "game", "seats", "options", "allowance_ms", "bank_ms", "matches"]
    for row in connection.execute(select(*columns)):
        ladder, counted = ladder_of_row(row), others.get(row.id, {})
        ended[ladder, MatchState.CLOSED.lower()] += row.matches - sum(counted.values())
        # Zeros are exported too, so that Prometheus can compute the increase of a new series.
        for state in (MatchState.VOID, MatchState.CANCELLED):
            ended[ladder, state.lower()] += counted.get(state, 0)
    return ended


def _decisions() -> Spread:
    return Spread(DECISION_BOUNDS)

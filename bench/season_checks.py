"""Check the invariants of a simulated season, from observations and from the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from statistics import quantiles
from typing import Any, Final

from arena.formats.ladder import LadderFormat
from arena.ladders import ladder_sums
from arena.presentation.registry import presentation_of
from bench.season_simulator import GAME, READ_SECONDS, Season

_MAX_EXAMPLES: Final = 5
"""Number of violations of an invariant that the report lists."""
_MAX_COMPARED_BOTS: Final = 1_000
"""Size of the largest ladder whose sums are compared: a table contains the fit of strengths."""
WINDOW: Final = 60
"""Seconds over which the load of the database is averaged."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """The result of one check.

    Attributes:
        name: the invariant.
        value: the measured value.
        limit: the largest value that is allowed.
        unit: unit of both.
        problems: the first violations, as text.
    """

    name: str
    value: float
    limit: float
    unit: str
    problems: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit."""
        return self.value <= self.limit

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "limit": self.limit,
            "unit": self.unit,
            "holds": self.holds,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class SeasonReport:
    """Everything that a season has shown."""

    invariants: tuple[Invariant, ...]
    figures: dict[str, float]
    events: dict[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether all invariants hold."""
        return all(invariant.holds for invariant in self.invariants)

    def of(self, name: str) -> Invariant:
        """Return the invariant with this name."""
        return next(invariant for invariant in self.invariants if invariant.name == name)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "holds": self.holds,
            "invariants": [invariant.to_json() for invariant in self.invariants],
            "figures": self.figures,
            "events": self.events,
        }


@dataclass(frozen=True, slots=True)
class _StoredMatch:
    id: str
    ladder: str
    round: int
    number: int
    state: str
    entrants: tuple[str, ...]


def check(season: Season) -> SeasonReport:
    """Check a season that has ended."""
    with closing(sqlite3.connect(str(season.engine.url.database))) as raw:
        matches = list(_matches(season, raw))
        violations = {
            "each match closes exactly once": list(_closed_once(season, raw, matches)),
            "each game is committed exactly once": list(_committed_once(season, raw)),
            "one worker at a time": season.seen.problems["one worker at a time"],
            "no match is lost": [m.id for m in matches if m.state not in ("CLOSED", "VOID")],
            "incremental sums equal new ones": list(_equal_sums(season)),
        }
    counted = [
        Invariant(name, len(texts), 0, "violations", tuple(texts[:_MAX_EXAMPLES]))
        for name, texts in violations.items()
    ]
    measured = (
        _staleness(season),
        _overtaking(season, matches),
        _longest_wait(season, matches),
        _matches_between(season, matches),
        _load(season),
    )
    return SeasonReport(
        (*counted, *measured),
        _figures(season, matches),
        dict(sorted(season.seen.events.items())),
    )


def _matches(season: Season, raw: sqlite3.Connection) -> Iterator[_StoredMatch]:
    names = {tournament: name for name, tournament in season.ladders.items()}
    sides = "SELECT match, version FROM match_entrants ORDER BY match, position"
    entrants = {
        match: tuple(version for _, version in rows)
        for match, rows in groupby(raw.execute(sides), lambda row: row[0])
    }
    for id_, tournament, number_of_round, number, state in raw.execute(
        "SELECT id, tournament, round, number, state FROM matches"
        " ORDER BY tournament, round, number"
    ):
        ladder, versions = names[tournament], entrants[id_]
        yield _StoredMatch(id_, ladder, number_of_round, number, state, versions)


def _closed_once(
    season: Season, raw: sqlite3.Connection, matches: list[_StoredMatch]
) -> Iterator[str]:
    """Compare events, results and states of matches."""
    stored = dict(raw.execute("SELECT match, count(*) FROM results GROUP BY match"))
    for match in matches:
        events = len(season.seen.closings.get(match.id, ()))
        expected = 1 if match.state == "CLOSED" else 0
        if (events, stored.get(match.id, 0)) != (expected, expected):
            yield (
                f"{match.id} is {match.state}, closed {events} times, and has "
                f"{stored.get(match.id, 0)} results"
            )


def _committed_once(season: Season, raw: sqlite3.Connection) -> Iterator[str]:
    """Compare the commits that workers saw with the stored games."""
    stored = {
        (match, game): attempt
        for match, game, attempt in raw.execute("SELECT match, game, attempt FROM games")
    }
    for key in stored.keys() | season.seen.commits.keys():
        seen = season.seen.commits.get(key, [])
        if seen != [stored.get(key)]:
            yield f"game {key[1]} of {key[0]}: commits {seen}, stored {stored.get(key)}"


def _equal_sums(season: Season) -> Iterator[str]:
    """Compare the sums that were updated during the season with new sums of all its matches."""
    clip = presentation_of(GAME).clip
    for name, ladder in season.readers.items():
        if season.plan.ladders[name][0] <= _MAX_COMPARED_BOTS:
            again = ladder_sums.sum_up(season.engine, [season.ladders[name]], clip)
            if ladder.now().table() != again.table():
                yield f"the {name} ladder differs"


def _staleness(season: Season) -> Invariant:
    """Return the longest time until a closed match was in a published ladder."""
    worst, problems = 0.0, []
    for name, closed in season.seen.closed.items():
        until = 0
        reads = [*season.seen.reads[name], (season.seen.ended, until)]
        for at, folded in reads:
            if until < len(closed) and at > closed[until] and at - closed[until] > worst:
                worst = at - closed[until]
                problems = [
                    f"{name} ladder: a match closed at {closed[until]:.0f} s, read {at:.0f} s"
                ]
            until = max(until, folded)
    limit = 2 * READ_SECONDS + season.plan.charge * 60
    return Invariant("ladders are at most this old", worst, limit, "s", tuple(problems))


def _first_leases(season: Season) -> dict[str, float]:
    return {match: attempts[0].begun for match, attempts in season.seen.attempts.items()}


def _overtaking(season: Season, matches: list[_StoredMatch]) -> Invariant:
    """Return the longest time by which a match of a ladder began after a later one."""
    first, worst, problems = _first_leases(season), 0.0, []
    for _, of_ladder in groupby(matches, lambda match: match.ladder):
        earliest = float("inf")
        for match in reversed(list(of_ladder)):
            begun = first.get(match.id)
            if begun is None:
                continue
            if begun - earliest > worst:
                worst = begun - earliest
                problems = [f"{match.id} began {worst:.0f} s after a later match"]
            earliest = min(earliest, begun)
    return Invariant("a match begins at most this late", worst, 60.0, "s", tuple(problems))


def _waits(season: Season, matches: list[_StoredMatch]) -> dict[str, list[float]]:
    """Return how long matches waited for their first lease, by ladder."""
    first = _first_leases(season)
    waits: dict[str, list[float]] = {}
    for match in matches:
        if match.id in first:
            since = season.seen.due[match.ladder, match.round]
            waits.setdefault(match.ladder, []).append(first[match.id] - since)
    return waits


def _longest_wait(season: Season, matches: list[_StoredMatch]) -> Invariant:
    """Return the longest wait; the limit is the time that two rounds of all ladders take."""
    plan = season.plan
    two_rounds = sum(bots for bots, _ in plan.ladders.values())
    limit = 1.5 * two_rounds * plan.match_seconds / plan.workers + 120
    longest = max(max(waits) for waits in _waits(season, matches).values())
    return Invariant("a match waits at most this long", longest, limit, "s")


def _matches_between(season: Season, matches: list[_StoredMatch]) -> Invariant:
    """Return the most matches between two of a bot, relative to the bound of the format."""
    worst = 0.0
    for ladder, of_ladder in groupby(matches, lambda match: match.ladder):
        bound = LadderFormat(pairing=3).bound(season.plan.ladders[ladder][0])
        last: dict[str, int] = {}
        for place, match in enumerate(of_ladder):
            for name in match.entrants:
                worst = max(worst, (place - last.get(name, -1)) / bound)
                last[name] = place
    return Invariant("matches between two of a bot", worst, 1.0, "of the bound")


def _load(season: Season) -> Invariant:
    """Return the mean number of statements per second in the busiest minute."""
    peak = max(_windows(season)) / WINDOW
    limit = 4.0 * season.plan.workers + 60
    return Invariant("load of the database", peak, limit, "queries/s")


def _windows(season: Season) -> Iterator[int]:
    """Yield the number of statements of each minute; the first second creates the season."""
    counts = season.seen.statements
    last = max(counts)
    for start in range(1, max(last, 2), WINDOW):
        yield sum(counts[second] for second in range(start, start + WINDOW))


def _figures(season: Season, matches: list[_StoredMatch]) -> dict[str, float]:
    seen = season.seen
    figures = {
        "matches": float(len(matches)),
        "closed": float(sum(match.state == "CLOSED" for match in matches)),
        "void": float(sum(match.state == "VOID" for match in matches)),
        "attempts": float(sum(map(len, seen.attempts.values()))),
        "statements per match": sum(seen.statements.values()) / max(len(matches), 1),
        "virtual seconds": seen.ended,
        "longest sweep, s": seen.longest_sweep,
        "elapsed seconds": seen.seconds,
        "processor seconds": seen.cpu_seconds,
    }
    for ladder, waits in _waits(season, matches).items():
        cuts = quantiles(waits, n=20, method="inclusive") if len(waits) > 1 else waits * 20
        figures[f"median wait of the {ladder} ladder, s"] = cuts[9]
        figures[f"95th percentile of waits of the {ladder} ladder, s"] = cuts[18]
    return figures

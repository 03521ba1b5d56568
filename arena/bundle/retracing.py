"""Whether a schedule follows from its format: the format is asked again, from nothing.

Each step's matches are put back with how they ended, until it plays no more. What the format
decides from less knowledge it decides the same from more (arena.pairings.contract), so asking with
all results known must give the same matches at the same places. Three things need care:

- *Who withdrew* had not yet done so while it was still being paired. A knockout looks at whether
  one has withdrawn, not since when; so nobody is said to have withdrawn before all its matches are
  back on the schedule.
- *A test (sprt) that is decided* asks for nothing more, but its next round may have been
  scheduled before the deciding one was over. If matches are left at the end, the format is asked
  with its newest round still open; what comes then must be marked as drained.
- *A tournament that is not closed* need not have what comes next. It has all of a step or nothing
  (of a knockout all of a series).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from arena.bundle.bundle import Scheduled
from arena.pairings.contract import Entrant, Fixture, Format, Match, Over, Play, State, Step, Wait
from arena.results import ClosedGame
from arena.store.schema import MatchState

Results = Mapping[str, tuple[ClosedGame, ...]]
"""The games of closed matches, by the match's id."""


@dataclass(frozen=True, slots=True)
class Retraced:
    """What came of it.

    problems: in sentences. steps: how often the format was asked. drained: how many matches were
    in flight when the decision fell. last: what the format says of the whole tournament; None if
    it could not be followed to its end.
    """

    problems: tuple[str, ...]
    steps: int
    drained: int = 0
    last: Step | None = None


def contract_match(match: Scheduled, results: Results) -> Match:
    """A match as its format looks at it; one whose result is not known counts as open."""
    state = State.OPEN
    if match.state is MatchState.CLOSED and match.id in results:
        state = State.CLOSED
    elif match.state in (MatchState.VOID, MatchState.CANCELLED):
        state = State.VOID
    games = results[match.id] if state is State.CLOSED else ()
    return Match(match.round, match.number, match.entrants, state, games)


class Retracing:
    """A schedule on its way back.

    closed: whether the tournament is closed, so that nothing may be missing.
    in_series: whether the format asks for series that go on by themselves, as a knockout does.
    """

    def __init__(
        self,
        rules: Format,
        entries: Sequence[Entrant],
        matches: Iterable[Scheduled],
        results: Results,
        closed: bool,
        in_series: bool,
    ) -> None:
        self._rules, self._entries = rules, entries
        self._results, self._closed, self._in_series = results, closed, in_series
        self._left = {match.place: match for match in matches}
        self._to_come = Counter(name for match in self._left.values() for name in match.entrants)
        self._unknown = [
            match
            for match in self._left.values()
            if match.state is MatchState.CLOSED and match.id not in results
        ]
        self._back: list[Match] = []
        self._drained = self._steps = 0

    def retrace(self, told: Callable[[int], None] = lambda done: None) -> Retraced:
        """Follow it to its end, or to the first thing that is not as it should be.

        told: is told after each step how many matches are back.
        """
        try:
            problems, last = self._follow(told)
        except ValueError as error:
            problems, last = [f"the format cannot go on: {error}"], None
        return Retraced(tuple(problems), self._steps, self._drained, last)

    def _follow(self, told: Callable[[int], None]) -> tuple[list[str], Step | None]:
        while True:
            step = self._ask(self._back)
            draining = False
            if isinstance(step, Over) and self._left:
                earlier = self._ask(self._newest_open())
                draining = isinstance(earlier, Play) and all(self._there(earlier.fixtures))
                step = earlier if draining else step
            if not isinstance(step, Play):
                return list(self._rest(step)), step
            problems = list(self._compare(step.fixtures))
            if problems:
                return problems, None
            coming = [match for match in self._there(step.fixtures) if match is not None]
            if not coming:
                return list(self._rest(step)), step
            self._put_back(coming)
            self._drained += len(coming) if draining else 0
            told(len(self._back))

    def _ask(self, matches: Sequence[Match]) -> Step:
        self._steps += 1
        entries = [
            replace(entry, withdrawn=None) if self._to_come[entry.name] else entry
            for entry in self._entries
        ]
        return self._rules.next(entries, matches)

    def _newest_open(self) -> list[Match]:
        newest = max((match.round for match in self._back), default=0)
        return [
            replace(match, state=State.OPEN, games=()) if match.round == newest else match
            for match in self._back
        ]

    def _compare(self, fixtures: Sequence[Fixture]) -> Iterator[str]:
        """Where the tournament differs from what the format wants now."""
        # What a step asks for is stored all at once.
        for _, together in groupby(fixtures, key=lambda f: f.entrants if self._in_series else None):
            wanted = list(together)
            there = self._there(wanted)
            if not any(there) and not self._closed:
                continue
            for fixture, match in zip(wanted, there, strict=True):
                yield from _difference(fixture, match)

    def _there(self, fixtures: Iterable[Fixture]) -> list[Scheduled | None]:
        """What the tournament has at the places of these matches."""
        return [self._left.get((fixture.round, fixture.number)) for fixture in fixtures]

    def _put_back(self, matches: Iterable[Scheduled]) -> None:
        for match in matches:
            del self._left[match.place]
            self._to_come.subtract(match.entrants)
            self._back.append(contract_match(match, self._results))

    def _rest(self, step: Step) -> Iterator[str]:
        """What is wrong when the format asks for nothing more that there is."""
        if self._left and self._unknown and isinstance(step, Wait):
            yield (
                f"the schedule cannot be followed beyond {self._unknown[0].words}, whose result "
                "is not known"
            )
            return
        for match in self._left.values():
            yield f"{match.words} is not one that the format plays"
        if self._closed and not isinstance(step, Over) and not self._unknown:
            yield f"the tournament is closed, but its format says: {step.why}"


def _difference(fixture: Fixture, match: Scheduled | None) -> Iterator[str]:
    pair = " v ".join(fixture.entrants)
    if match is None:
        yield f"round {fixture.round}, match {fixture.number} ({pair}) is missing"
    elif match.entrants != fixture.entrants:
        yield f"{match.words} is {' v '.join(match.entrants)}, where the format pairs {pair}"
    elif match.why != fixture.why:
        yield f"{match.words} is said to be played because of {match.why!r}, not {fixture.why!r}"

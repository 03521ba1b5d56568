"""The schedule of a ladder: who has waited longest, and who has met whom in even matches.

It follows from the pairings alone, whatever their results are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Protocol

from arena.formats.contract import FormatEntrant, FormatMatch, seatable
from arena.formats.pairing_strengths import MAX_FITTED_ENTRANTS


class TurnRules(Protocol):
    """The settings of a ladder that decide who has waited longest."""

    @property
    def sides(self) -> int: ...
    @property
    def placement(self) -> int: ...
    @property
    def adaptive(self) -> int: ...
    def is_adaptive(self, number: int) -> bool: ...


@dataclass(slots=True)
class LadderSchedule:
    """The sums of all rounds before `round`, which replace their matches.

    Attributes:
        round: the first round that is not included.
        matches: number of matches.
        last: number of each entrant's last match, counted from 1; before its first match, the
            number of matches played when it joined.
        even: number of even matches of each entrant; a newcomer starts with a number that bounds
            its placement.
        opponents: opponents in even matches, by entrant.
    """

    round: int = 0
    matches: int = 0
    last: dict[str, int] = field(default_factory=dict)
    even: dict[str, int] = field(default_factory=dict)
    opponents: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self, rules: TurnRules, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> None:
        """Add complete rounds: all their matches, in canonical order."""
        turns = LadderTurns(rules, entrants, self.last, self.even)
        for match in matches:
            turns.enter(match.round, self.matches)
            turns.count(match.entrants, self.matches)
            if not turns.is_adaptive(self.matches):
                for first, second in permutations(match.entrants, 2):
                    self.opponents.setdefault(first, []).append(second)
            self.matches += 1
            self.round = match.round + 1

    def times_met(self, name: str) -> Counter[str]:
        """Return how often an entrant has met each opponent in even matches."""
        return Counter(self.opponents.get(name, ()))


class LadderTurns:
    """The order in which entrants have waited.

    Args:
        entrants: all entrants in order of seeds.
        last: number of each entrant's last match; it is updated.
        even: number of even matches of each entrant; it is updated.
    """

    def __init__(
        self,
        rules: TurnRules,
        entrants: Sequence[FormatEntrant],
        last: dict[str, int],
        even: dict[str, int],
    ) -> None:
        self._rules, self._entrants = rules, entrants
        self._seeds = {entrant.name: place for place, entrant in enumerate(entrants)}
        self._last, self.even = last, even
        # Sorted so that the earliest entrants to join are popped first.
        outside = (entrant for entrant in entrants if entrant.name not in even)
        self._outside = sorted(outside, key=lambda entrant: -entrant.joined)
        self._round, self._is_large = -1, False

    def enter(self, number: int, count: int) -> None:
        """Begin a round, before the match of this number: add the entrants that have joined."""
        if number == self._round:
            return
        self._round = number
        if len(self._entrants) > MAX_FITTED_ENTRANTS:
            self._is_large = len(seatable(self._entrants, number)) > MAX_FITTED_ENTRANTS
        while self._outside and self._outside[-1].joined <= number:
            joined = self._outside[-1].joined
            counts = [
                self.even[candidate.name]
                for candidate in self._entrants
                if candidate.name in self.even
                and candidate.joined < joined
                and candidate.plays_in(number)
            ]
            start = max(min(counts, default=0) - self._rules.placement, 0)
            while self._outside and self._outside[-1].joined == joined:
                entrant = self._outside.pop()
                self.even[entrant.name] = start
                self._last[entrant.name] = count

    def is_adaptive(self, count: int) -> bool:
        """Return whether the match of this number, in the present round, is an adaptive one."""
        return self._rules.is_adaptive(count) and not self._is_large

    def count(self, names: Iterable[str], count: int) -> None:
        """Count a match in the turns, and in the even matches if it is not adaptive."""
        names = list(names)
        self._last.update(dict.fromkeys(names, count + 1))
        if not self.is_adaptive(count):
            for name in names:
                self.even[name] += 1

    def turn(self, name: str) -> tuple[int, int]:
        """Return the sort key of the queue: the longest waiting entrant has the least key."""
        return self._last[name], self._seeds[name]

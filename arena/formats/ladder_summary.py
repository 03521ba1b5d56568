"""Summarize the finished rounds of a ladder: all that the pairing of later rounds requires.

A summary (`LadderSummary`) replaces the matches of its rounds. A ladder of two million matches is
paired from a few bytes for each two entrants that have met, and a stored summary is read in a
second. It is only a cache: it always equals the sum of the matches.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final, Protocol, TypeVar

from arena.formats.contract import FormatEntrant, FormatMatch, MatchStatus
from arena.formats.strength_estimate import (
    Meetings,
    StrengthEstimate,
    estimate_many,
    estimate_strengths,
)

VERSION: Final = 1
"""Version of the stored form; a summary in another form is computed again from the matches."""
MAX_ADAPTIVE_ENTRANTS: Final = 400
"""Above this number of entrants, strengths are estimated with numpy, and rounds are paired by
`LeastMetPairing`, whose memory grows linearly."""
_NUMBER: Final = struct.Struct("<I")
Number = TypeVar("Number", int, float)


class TurnRules(Protocol):
    """The settings of a ladder that decide who has waited longest."""

    @property
    def sides(self) -> int: ...
    @property
    def adaptive(self) -> int: ...
    @property
    def placement(self) -> int: ...
    def is_adaptive(self, number: int) -> bool: ...


@dataclass(slots=True)
class _MetRow:
    """Opponents of an entrant by number, in order of the first even match, and their matches."""

    opponents: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("i"))

    def add(self, opponent: int) -> None:
        place = _place(self.opponents, opponent)
        if place < 0:
            self.opponents.append(opponent)
            self.times.append(1)
        else:
            self.times[place] += 1


@dataclass(slots=True)
class ScoreRow:
    """Opponents of an entrant by number, in order of the first closed match, with results.

    Attributes:
        opponents: their numbers.
        scores: the sum of the entrant's scores against each, in games.
        games: the number of games against each.
    """

    opponents: array[int] = field(default_factory=lambda: array("i"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    games: array[float] = field(default_factory=lambda: array("d"))

    def add(self, opponent: int, score: float, games: float) -> None:
        """Add the result of a match."""
        place = _place(self.opponents, opponent)
        if place < 0:
            self.opponents.append(opponent)
            self.scores.append(0.0 + score)
            self.games.append(0.0 + games)
        else:
            self.scores[place] += score
            self.games[place] += games


@dataclass(slots=True)
class LadderSummary:
    """The sums of all rounds before `round`.

    Attributes:
        round: the first round that is not included.
        matches: number of matches.
        games: number of games of the newest closed match; 0 without one.
        names: all entrants, in order of their seeds; their position is their number.
        last: number of each entrant's last match, counted from 1; before its first match, the
            number of matches played when it joined.
        even: number of even matches of each entrant; a newcomer starts with a number that bounds
            its placement.
        even_meetings: opponents in even matches, by entrant.
        scored: results by entrant, in order of the first closed match.
    """

    round: int = 0
    matches: int = 0
    games: int = 0
    names: list[str] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)
    even: dict[str, int] = field(default_factory=dict)
    even_meetings: dict[int, _MetRow] = field(default_factory=dict)
    scored: dict[int, ScoreRow] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(
        self, rules: TurnRules, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> None:
        """Add complete rounds: all their matches, in canonical order, without open ones."""
        self._enrol(entrants)
        turns = LadderTurns(rules, entrants, self.last, self.even)
        for match in matches:
            turns.enter(match.round, self.matches)
            turns.count(match.entrants, self.matches)
            if not rules.is_adaptive(self.matches):
                self._meet(match.entrants)
            if match.state is MatchStatus.CLOSED:
                self._score(match)
            self.matches += 1
            self.round = match.round + 1

    def turns(
        self, rules: TurnRules, entrants: Sequence[FormatEntrant], recent: Iterable[FormatMatch]
    ) -> LadderTurns:
        """Return the turns after further matches; the summary does not change."""
        self._enrol(entrants)
        turns = LadderTurns(rules, entrants, dict(self.last), dict(self.even))
        for count, match in enumerate(recent, self.matches):
            turns.enter(match.round, count)
            turns.count(match.entrants, count)
        return turns

    def times_met(self, name: str) -> Counter[str]:
        """Return how often an entrant has met each opponent in even matches."""
        row = self.even_meetings.get(self._numbers[name])
        if row is None:
            return Counter()
        return Counter(
            {self.names[at]: times for at, times in zip(row.opponents, row.times, strict=True)}
        )

    def meetings(self) -> Meetings:
        """Return the results by entrant and opponent."""
        return {
            self.names[number]: {
                self.names[at]: (score, games)
                for at, score, games in zip(row.opponents, row.scores, row.games, strict=True)
            }
            for number, row in self.scored.items()
        }

    def strengths(self, names: Iterable[str]) -> dict[str, StrengthEstimate]:
        """Estimate the strengths of these entrants and of all that have played."""
        if len(self.scored) <= MAX_ADAPTIVE_ENTRANTS:
            return estimate_strengths(names, self.meetings())
        columns = {
            number: (row.opponents, row.scores, row.games) for number, row in self.scored.items()
        }
        fitted = estimate_many(len(self.names), columns)
        known = {self.names[number]: estimate for number, estimate in fitted.items()}
        return {name: known.get(name) or StrengthEstimate() for name in (*names, *known)}

    def _enrol(self, entrants: Sequence[FormatEntrant]) -> None:
        for entrant in entrants[len(self.names) :]:
            self._numbers[entrant.name] = len(self.names)
            self.names.append(entrant.name)

    def _meet(self, names: Sequence[str]) -> None:
        numbers = [self._numbers[name] for name in names]
        for first, second in permutations(numbers, 2):
            self.even_meetings.setdefault(first, _MetRow()).add(second)

    def _score(self, match: FormatMatch) -> None:
        self.games = len(match.games)
        games = len(match.games) / (len(match.entrants) - 1)
        numbers = [self._numbers[name] for name in match.entrants]
        for first, second in permutations(range(len(numbers)), 2):
            row = self.scored.setdefault(numbers[first], ScoreRow())
            row.add(numbers[second], match.scores[first][second] * games, games)

    # The stored form: a checksum, the length of a header in JSON, the header, and the columns.

    def stored(self, rules: TurnRules, entrants: Sequence[FormatEntrant]) -> bytes:
        """Return the summary as bytes, for `read`."""
        known = entrants[: len(self.names)]
        header = {
            "version": VERSION,
            "order": sys.byteorder,
            "round": self.round,
            "matches": self.matches,
            "games": self.games,
            "entrants": len(known),
            "check": _check(rules, known),
        }
        text = json.dumps(header).encode()
        body = zlib.compressobj(1)
        packed = [body.compress(column) for column in self._columns()]
        content = b"".join((_NUMBER.pack(len(text)), text, *packed, body.flush()))
        return _NUMBER.pack(zlib.crc32(content)) + content

    def _columns(self) -> Iterator[array[int] | array[float]]:
        for counts in (self.last, self.even):
            yield array("i", [counts.get(name, -1) for name in self.names])
        yield array("i", [len(self.even_meetings), *self.even_meetings])
        yield array("i", [len(row.opponents) for row in self.even_meetings.values()])
        for row in self.even_meetings.values():
            yield row.opponents
        for row in self.even_meetings.values():
            yield row.times
        yield array("i", [len(self.scored), *self.scored])
        yield array("i", [len(row.opponents) for row in self.scored.values()])
        for scored in self.scored.values():
            yield scored.opponents
        for scored in self.scored.values():
            yield scored.scores
        for scored in self.scored.values():
            yield scored.games

    @classmethod
    def read(
        cls, data: bytes, rules: TurnRules, entrants: Sequence[FormatEntrant]
    ) -> LadderSummary | None:
        """Return a stored summary; None if it is damaged or of other settings or entrants."""
        checksum, content = data[: _NUMBER.size], data[_NUMBER.size :]
        if checksum != _NUMBER.pack(zlib.crc32(content)):
            return None
        begin = _NUMBER.size + _NUMBER.unpack_from(content)[0]
        header = json.loads(content[_NUMBER.size : begin])
        if (header["version"], header["order"]) != (VERSION, sys.byteorder):
            return None
        known = entrants[: header["entrants"]]
        if len(known) < header["entrants"] or header["check"] != _check(rules, known):
            return None
        columns = _Columns(zlib.decompress(content[begin:]))
        summary = cls(header["round"], header["matches"], header["games"])
        summary._enrol(known)
        for counts in (summary.last, summary.even):
            numbers = columns.integers(len(known))
            counts.update(
                (name, count)
                for name, count in zip(summary.names, numbers, strict=True)
                if count >= 0
            )
        summary._read_rows(columns)
        return summary

    def _read_rows(self, columns: _Columns) -> None:
        numbers, lengths = columns.rows()
        opponents = [columns.integers(length) for length in lengths]
        times = [columns.integers(length) for length in lengths]
        self.even_meetings = dict(zip(numbers, map(_MetRow, opponents, times), strict=True))
        numbers, lengths = columns.rows()
        opponents = [columns.integers(length) for length in lengths]
        scores = [columns.floats(length) for length in lengths]
        games = [columns.floats(length) for length in lengths]
        self.scored = dict(zip(numbers, map(ScoreRow, opponents, scores, games), strict=True))


class LadderTurns:
    """The order in which entrants have waited, computed from the schedule alone.

    Args:
        rules: the settings of the ladder.
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

    def enter(self, number: int, count: int) -> None:
        """Add the entrants that have joined by a round, before the match of this number."""
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

    def count(self, names: Iterable[str], count: int) -> None:
        """Count a match in the turns, and in the even matches if it is not adaptive."""
        names = list(names)
        self._last.update(dict.fromkeys(names, count + 1))
        if not self._rules.is_adaptive(count):
            for name in names:
                self.even[name] += 1

    def turn(self, name: str) -> tuple[int, int]:
        """Return the sort key of the queue: the longest waiting entrant has the least key."""
        return self._last[name], self._seeds[name]


class _Columns:
    """Reads the columns of a stored summary one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def integers(self, length: int) -> array[int]:
        return self._take(array("i"), length)

    def floats(self, length: int) -> array[float]:
        return self._take(array("d"), length)

    def rows(self) -> tuple[array[int], array[int]]:
        """Return the entrants that have a row, and the lengths of their rows."""
        (count,) = self.integers(1)
        return self.integers(count), self.integers(count)

    def _take(self, column: array[Number], length: int) -> array[Number]:
        size = length * column.itemsize
        column.frombytes(self._data[self._at : self._at + size])
        self._at += size
        return column


def _place(numbers: array[int], number: int) -> int:
    """Return the index of a number; -1 if it is missing."""
    try:
        return numbers.index(number)
    except ValueError:
        return -1


def _check(rules: TurnRules, entrants: Sequence[FormatEntrant]) -> str:
    """Return a hash of everything besides the matches that the sums depend on."""
    facts = [rules.sides, rules.adaptive, rules.placement]
    text = json.dumps([facts, [[entrant.name, entrant.joined] for entrant in entrants]])
    return hashlib.sha256(text.encode()).hexdigest()

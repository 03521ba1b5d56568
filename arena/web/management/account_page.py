"""Data of the page of an owner: ratings of the bots, changes, results, faults and limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from arena.ladders.ladder_columns import faults_of
from arena.ladders.ladder_rows import Ladder
from arena.ratings.scale import Z95
from arena.ratings.standings import StandingsLine
from arena.store.bots import submissions
from arena.store.bots.versions import Version
from arena.store.matches import history
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.tournaments import challenges
from arena.submissions.challenges import refusal_to_others
from arena.web.data.web_state import WebState
from referee.games.registry import form_of

_RESULTS: Final = 15
_OPPONENTS: Final = 3
"""Suggested opponents above and below a bot on a ladder."""


@dataclass(frozen=True, slots=True)
class VersionRating:
    """A version on a ladder, compared with the version before it.

    Args:
        form: the form of the ladder.
        place: its place.
        bots: number of bots on the ladder.
        line: its ratings and results.
        before: the version before it; empty for the first one.
        gain: difference of the strengths, in Elo points.
        margin: half the 95 % interval of the difference.
        likely: likelihood that it is the stronger one.
        new_faults: kinds of faults that the version before it did not have.
    """

    form: str
    place: int
    bots: int
    line: StandingsLine
    before: str = ""
    gain: float = 0.0
    margin: float = 0.0
    likely: float = 0.5
    new_faults: tuple[str, ...] = ()

    @property
    def faults(self) -> dict[str, int]:
        """Number of its games ended by each kind of fault, with forfeits."""
        return faults_of(self.line)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        change = {"gain": self.gain, "margin": self.margin, "superiority": self.likely}
        return {
            "ladder": self.form,
            "version": self.line.entrant,
            "place": self.place,
            "strength": self.line.strength.value,
            "matches": self.line.matches,
            "faults": self.faults,
            "before": self.before or None,
            "change": change if self.before else None,
        }


@dataclass(frozen=True, slots=True)
class OwnResult:
    """A closed match of a bot of the owner.

    Args:
        match: the match.
        version: the version of the owner.
        form: its form.
        score: the score of the version, from 0 to 1.
        rival: the opponent, if it can be challenged; empty otherwise.
    """

    match: PlayedMatch
    version: str
    form: str
    score: float
    rival: str = ""

    @property
    def opponents(self) -> tuple[str, ...]:
        """The other bots."""
        return self.match.opponents(self.version)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A challenge of a bot with a similar strength: bot, opponent, form, place of the opponent."""

    bot: str
    opponent: str
    form: str
    place: int


@dataclass(frozen=True, slots=True)
class LeftToday:
    """A limit for 24 hours and the number used; `most` 0: none are accepted."""

    most: int
    used: int

    @property
    def left(self) -> int:
        """The number that is left."""
        return max(self.most - self.used, 0)

    def to_json(self) -> dict[str, int]:
        """Return it as JSON values."""
        return {"limit": self.most, "used": self.used, "left": self.left}


def pushes_left(web: WebState, owner: str) -> LeftToday:
    """Return the pushes of an owner within 24 hours."""
    return LeftToday(web.settings.pushes, submissions.count_today(web.engine, owner))


def challenges_left(web: WebState, owner: str) -> LeftToday:
    """Return the challenges of an owner within 24 hours."""
    return LeftToday(web.settings.challenges, challenges.count_today(web.engine, owner))


def ratings_of(web: WebState, owned: Sequence[Version]) -> dict[str, list[VersionRating]]:
    """Return the ratings of versions by the name of their bot, the newest version first."""
    ratings: dict[str, list[VersionRating]] = {version.name: [] for version in owned}
    for ladder in web.snapshot.ladders.values():
        for name, rows in ratings.items():
            versions = [version.id for version in owned if version.name == name]
            rows.extend(reversed(list(_ratings(web, ladder, versions))))
    return ratings


def _ratings(web: WebState, ladder: Ladder, versions: Sequence[str]) -> Iterator[VersionRating]:
    """Yield the rating of each version of a bot on a ladder, the oldest first."""
    lines = {line.entrant: (place, line) for place, line in ladder.table.ranked}
    listed = [version for version in versions if version in lines]
    form, bots = ladder.scope.name, len(lines)
    for version in listed[:1]:
        yield VersionRating(form, lines[version][0], bots, lines[version][1])
    gaps = web.gaps.of(ladder) if len(listed) > 1 else None
    for before, version in pairwise(listed):
        assert gaps is not None
        place, line = lines[version]
        earlier = lines[before][1]
        yield VersionRating(
            form,
            place,
            bots,
            line,
            before,
            line.strength.value - earlier.strength.value,
            Z95 * gaps.error(version, before),
            gaps.superiority(version, before),
            tuple(kind for kind in faults_of(line) if kind not in faults_of(earlier)),
        )


def results_of(web: WebState, versions: set[str]) -> list[OwnResult]:
    """Return the last results of versions, the newest first."""
    results = []
    listed = history.matches(web.engine, [versions], limit=_RESULTS) if versions else ()
    for match in listed:
        version = next(name for name in match.entrants if name in versions)
        form = form_of(match.game, match.seats, match.options)
        opponents = match.opponents(version)
        is_open = len(opponents) == 1 and _accepts(web, opponents[0], version.partition("@")[0])
        rival = opponents[0] if is_open else ""
        results.append(OwnResult(match, version, form, match.score(version), rival))
    return results


def suggestions_of(web: WebState, owned: Sequence[Version]) -> list[Suggestion]:
    """Return challenges of each bot's newest version with its neighbours on each ladder."""
    newest = {each.name: each.id for each in owned if each.retired is None}
    suggested = []
    for ladder in web.snapshot.ladders.values():
        names = [line.entrant for _, line in ladder.table.ranked]
        for name, version in newest.items():
            if version not in names or ladder.scope.sides != 2:
                continue
            at = names.index(version)
            near = range(max(at - _OPPONENTS, 0), min(at + _OPPONENTS + 1, len(names)))
            suggested += [
                Suggestion(version, names[place], ladder.scope.form, place + 1)
                for place in near
                if _accepts(web, names[place], name)
            ]
    return suggested


def _accepts(web: WebState, opponent: str, challenger: str) -> bool:
    """Return whether a version may be challenged, according to the snapshot."""
    version = web.snapshot.versions.get(opponent)
    return (
        version is not None
        and version.name != challenger
        and version.retired is None
        and version.quarantined is None
        and not refusal_to_others(version)
    )


def fault_counts(web: WebState, owned: Sequence[Version]) -> list[tuple[str, dict[str, int]]]:
    """Return the number of faults of each version by kind, without versions that have none."""
    counts = [(version.id, history.kinds(web.engine, [version.id])) for version in owned]
    return [(version, kinds) for version, kinds in counts if kinds]

"""Data of the page of an owner: ratings of the bots, changes, results, faults and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from arena.ladders.ladder_columns import lines_of
from arena.ratings.standings import StandingsLine
from arena.store.bots import submissions
from arena.store.bots.versions import Version
from arena.store.matches import history
from arena.store.tournaments import challenges
from arena.submissions.challenges import refusal_to_others
from arena.web.data.web_state import WebState
from arena.web.pages.bot import MatchRow, VersionChange, match_row, version_changes

_RESULTS: Final = 15
_OPPONENTS: Final = 2
"""Suggested opponents of a bot on a ladder."""
_SUGGESTED: Final = 24
"""Maximum number of suggested challenges."""


@dataclass(frozen=True, slots=True)
class VersionRating:
    """A version on the ladder of a form, and the number of bots on the ladder."""

    form: str
    bots: int
    change: VersionChange

    def to_json(self) -> dict[str, Any]:
        line, gap = self.change.line, self.change.gap
        return {
            "ladder": self.form,
            "version": line.name,
            "place": line.place,
            "strength": line.standing.strength.value,
            "matches": line.standing.matches,
            "faults": self.change.faults,
            "before": self.change.before or None,
            "change": gap and {"gain": gap.value, "margin": gap.margin, "superiority": gap.likely},
        }


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A challenge of a bot with a similar strength, or of the middle for a bot without matches.

    Args:
        own_place: the place of the bot; 0 before its first match.
        place: the place of the opponent.
    """

    bot: str
    form: str
    own_place: int
    place: int
    opponent: StandingsLine


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
        return {"limit": self.most, "used": self.used, "left": self.left}


def limits_of(web: WebState, owner: str) -> dict[str, LeftToday]:
    """Return the limits of an owner for 24 hours."""
    settings, engine = web.settings, web.engine
    return {
        "pushes": LeftToday(settings.pushes, submissions.count_today(engine, owner)),
        "challenges": LeftToday(settings.challenges, challenges.count_today(engine, owner)),
    }


def ratings_of(web: WebState, owned: Sequence[Version]) -> dict[str, list[VersionRating]]:
    """Return the ratings of versions by the name of their bot, the newest version first."""
    ratings: dict[str, list[VersionRating]] = {version.name: [] for version in owned}
    for ladder in web.snapshot.ladders.values():
        lines = {line.name: line for line in lines_of(ladder.table)}
        for name, rows in ratings.items():
            ids = [version.id for version in owned if version.name == name]
            listed = [lines[version] for version in ids if version in lines]
            changes = version_changes(web, ladder, listed)
            rows.extend(VersionRating(ladder.scope.name, len(lines), each) for each in changes)
    return ratings


def results_of(web: WebState, versions: set[str]) -> list[MatchRow]:
    """Return the last results of versions, the newest first."""
    listed = history.matches(web.engine, [versions], limit=_RESULTS) if versions else ()
    return [match_row(match, versions) for match in listed]


def suggestions_of(web: WebState, owned: Sequence[Version]) -> list[Suggestion]:
    """Return challenges of each bot's newest version with its neighbours on the ladders."""
    newest = {each.name: each for each in owned if each.retired is None}
    rankings = [
        (ladder.scope, ladder.table.ranked)
        for ladder in web.snapshot.ladders.values()
        if ladder.scope.sides == 2
    ]
    suggested: list[Suggestion] = []
    for version in newest.values():
        of_version = [
            suggestion
            for scope, ranked in rankings
            if version.plays(scope.game)
            for suggestion in _challenges(web, version, scope.form, ranked)
        ]
        suggested += of_version[: max(_SUGGESTED // len(newest), 1)]
    return suggested[:_SUGGESTED]


def _challenges(
    web: WebState, version: Version, form: str, ranked: Sequence[tuple[int, StandingsLine]]
) -> list[Suggestion]:
    """Return challenges of the neighbours; without a match, of bots in the middle."""
    place = next((place for place, line in ranked if line.entrant == version.id), 0)
    near = _nearest(web, ranked, version.name, place or len(ranked) // 2)
    return [Suggestion(version.id, form, place, *neighbour) for neighbour in near]


def _nearest(
    web: WebState, ranked: Sequence[tuple[int, StandingsLine]], name: str, place: int
) -> list[tuple[int, StandingsLine]]:
    """Return the nearest lines of versions that may be challenged, according to the snapshot."""
    near = sorted(ranked, key=lambda each: abs(each[0] - place))
    versions = ((each, web.snapshot.versions.get(each[1].entrant)) for each in near)
    accepting = (
        each
        for each, version in versions
        if version and version.name != name
        if version.retired is None and version.quarantined is None
        if not refusal_to_others(version)
    )
    return list(islice(accepting, _OPPONENTS))

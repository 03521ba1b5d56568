"""Search the closed matches by entrant, owner, tournament, form and time, newest first, by page.

No filter reads more rows of the match tables than it returns, apart from those of an opponent, and
of a tag beside other conditions: a search is split into ranges of an index. Each range is in the
order of the closing times, and the ranges are merged. The next page begins behind the last match of
the previous one (keyset pagination), so that late pages cost as much as the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, Select, exists, or_, select

from arena.store import schema
from arena.store.database import reading
from arena.store.match_settings import is_of_ladder
from arena.store.matches import history
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.schema import MatchState, TournamentState

_PROBE = 2000
"""Number of matches up to which the entrants of two bots are counted, to begin with the fewer."""


@dataclass(frozen=True, slots=True)
class SearchPosition:
    """The place of a match in the results of a search: the next page begins behind it."""

    ended: float
    match: str

    @property
    def order(self) -> tuple[float, str]:
        """Sort key: newest first, then by id."""
        return -self.ended, self.match


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Conditions on a closed match; an empty one is not applied.

    Args:
        bot: an entrant, as ``name`` or ``name@number``.
        opponent: another entrant, likewise.
        form: its form or its ladder, such as "GAME-4-OPTION" or "GAME~slow".
        tag: a tag that a bot has set on one of its games.
        since: the earliest end, in seconds since 1970.
        until: the end is before this time.
    """

    bot: str = ""
    opponent: str = ""
    owner: str = ""
    tournament: str = ""
    game: str = ""
    form: str = ""
    tag: str = ""
    since: float | None = None
    until: float | None = None

    @property
    def is_by_tournament(self) -> bool:
        """Whether it selects matches by a property of their tournament."""
        return bool(self.tournament or self.game or self.form)


@dataclass(frozen=True, slots=True)
class FoundMatches:
    """A page of the results of a search.

    Args:
        matches: the matches, newest first.
        last: the place of the last of them if more follow; else None.
    """

    matches: tuple[PlayedMatch, ...]
    last: SearchPosition | None


def closed_matches(
    engine: Engine,
    match_filter: MatchFilter,
    after: SearchPosition | None = None,
    limit: int = 50,
) -> FoundMatches:
    """Return the closed matches that a filter selects, newest first.

    Args:
        after: the last match of the previous page; None: the first page.
        limit: the maximum number of matches, at most 500.
    """
    with reading(engine) as connection:
        positions = _positions(connection, match_filter, after, limit + 1)
        page = list(islice(_without_repeats(positions), limit + 1))
        played = history.by_ids(connection, [position.match for position in page[:limit]])
    return FoundMatches(played, page[limit - 1] if len(page) > limit else None)


def _without_repeats(positions: Iterable[SearchPosition]) -> Iterator[SearchPosition]:
    """Yield each match once: several entrants of a match may be selected."""
    previous = None
    for position in positions:
        if position != previous:
            yield position
        previous = position


def _positions(
    connection: Connection, match_filter: MatchFilter, after: SearchPosition | None, limit: int
) -> Iterator[SearchPosition]:
    """Yield the places of the selected matches, each range of an index with at most `limit`."""
    window = _Window(match_filter.since, match_filter.until, after, limit)
    sides = _sides(connection, match_filter)
    if not all(sides):
        return iter(())
    if sides:
        return _of_entrants(connection, match_filter, sides, window)
    if match_filter.is_by_tournament:
        return _of_tournaments(connection, match_filter, window)
    table = schema.results
    query = select(*table.c["closed", "match"])
    if match_filter.tag:
        table = schema.match_tags
        query = select(*table.c["closed", "match"]).where(table.c.tag == match_filter.tag)
    return iter(window.read(connection, query, table.c.closed, table.c.match))


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of a range of an index that a page needs."""

    since: float | None
    until: float | None
    after: SearchPosition | None
    limit: int

    def read(
        self,
        connection: Connection,
        query: Select[Any],
        ended: Column[float],
        match: Column[str],
    ) -> list[SearchPosition]:
        """Return the places of the matches of a query, newest first."""
        query = query.where(*self._conditions(ended, match)).order_by(ended.desc(), match)
        rows = connection.execute(query.limit(self.limit))
        return [SearchPosition(float(row[0]), row[1]) for row in rows]

    def _conditions(
        self, ended: Column[float], match: Column[str]
    ) -> Iterator[ColumnElement[bool]]:
        # The bounds let the databases seek in the index instead of reading it from its end.
        yield ended >= (0.0 if self.since is None else self.since)
        if self.until is not None:
            yield ended < self.until
        if self.after is not None:
            yield ended <= self.after.ended
            yield or_(ended < self.after.ended, match > self.after.match)

    def meets(self, began: float, ended: float) -> bool:
        """Return whether a match of a tournament that lasted from `began` to `ended` can fit."""
        latest = min(
            math.inf if self.until is None else self.until,
            math.inf if self.after is None else self.after.ended,
        )
        return began <= latest and ended >= (self.since or 0.0)


def _sides(connection: Connection, match_filter: MatchFilter) -> list[tuple[str, ...]]:
    """Return sets of versions; a match must have an entrant from each. A set may be empty."""
    versions, bots = schema.versions, schema.bots
    sides = []
    for name in (match_filter.bot, match_filter.opponent):
        if name:
            column = versions.c.id if "@" in name else versions.c.name
            sides.append(
                tuple(connection.execute(select(versions.c.id).where(column == name)).scalars())
            )
    if match_filter.owner:
        owned = (
            select(versions.c.id)
            .join(bots, bots.c.name == versions.c.name)
            .where(bots.c.owner == match_filter.owner)
        )
        sides.append(tuple(connection.execute(owned).scalars()))
    return sides


def _has_tag(match_filter: MatchFilter, match: Column[str]) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that a match has the tag, if there is one."""
    tags = schema.match_tags
    if match_filter.tag:
        yield exists().where(tags.c.match == match, tags.c.tag == match_filter.tag)


def _of_tournaments(
    connection: Connection, match_filter: MatchFilter, window: _Window
) -> Iterator[SearchPosition]:
    matches = schema.matches
    ranges = (
        (
            ended,
            select(*matches.c["ended", "id"]).where(
                matches.c.state == MatchState.CLOSED,
                matches.c.tournament == tournament,
                *_has_tag(match_filter, matches.c.id),
            ),
        )
        for tournament, ended in _tournaments(connection, match_filter, window)
    )
    return _merged(connection, window, ranges, matches.c.ended, matches.c.id)


def _of_entrants(
    connection: Connection,
    match_filter: MatchFilter,
    sides: Sequence[tuple[str, ...]],
    window: _Window,
) -> Iterator[SearchPosition]:
    """Yield the places of the matches that have an entrant of each side."""
    table = schema.match_entrants
    named = bool(match_filter.bot) + bool(match_filter.opponent)
    # The owner's bots come last: only two named bots must sit at different places.
    first, *others = (
        *sorted(sides[:named], key=lambda versions: _matches_up_to_probe(connection, versions)),
        *sides[named:],
    )
    query = select(*table.c["closed", "match"]).where(*_has_tag(match_filter, table.c.match))
    for number, versions in enumerate(others, 1):
        beside = table.alias()
        both = select(beside.c.match).where(
            beside.c.match == table.c.match, beside.c.version.in_(versions)
        )
        if number < named:
            both = both.where(beside.c.position != table.c.position)
        query = query.where(both.exists())
    if not (others or match_filter.is_by_tournament):
        ranges = [(math.inf, query.where(table.c.version == version)) for version in first]
        return _merged(connection, window, ranges, table.c.closed, table.c.match)
    tournaments = _tournaments(connection, match_filter, window)
    entered = [_entered(connection, versions) for versions in (first, *others)]
    pairs = (
        (ended, query.where(table.c.version == version, table.c.tournament == tournament))
        for tournament, ended in tournaments
        if all(tournament in each for each in entered[1:])
        for version in entered[0].get(tournament, ())
    )
    return _merged(connection, window, pairs, table.c.closed, table.c.match)


def _matches_up_to_probe(connection: Connection, versions: Sequence[str]) -> int:
    """Return the number of closed matches of some versions, or `_PROBE` if there are more."""
    table = schema.match_entrants
    number = 0
    for version in versions:
        query = (
            select(table.c.match)
            .where(table.c.version == version, table.c.closed >= 0.0)
            .limit(_PROBE - number)
        )
        number += len(connection.execute(query).all())
        if number >= _PROBE:
            break
    return number


def _entered(connection: Connection, versions: Sequence[str]) -> dict[str, list[str]]:
    """Return the tournaments that some versions entered, with the versions in each."""
    entrants = schema.entrants
    query = select(*entrants.c["tournament", "version"]).where(entrants.c.version.in_(versions))
    entered: dict[str, list[str]] = {}
    for tournament, version in connection.execute(query):
        entered.setdefault(tournament, []).append(version)
    return entered


def _tournaments(
    connection: Connection, match_filter: MatchFilter, window: _Window
) -> list[tuple[str, float]]:
    """Return the tournaments that can have selected matches, and their ends, the latest first."""
    table = schema.tournaments
    query = select(
        *table.c["id", "game", "seats", "options", "allowance_ms", "bank_ms"],
        *table.c["state", "created", "ended"],
    )
    if match_filter.tournament:
        query = query.where(table.c.id == match_filter.tournament)
    if match_filter.game:
        query = query.where(table.c.game == match_filter.game)
    chosen = []
    for row in connection.execute(query):
        # Matches that are being played when a tournament is cancelled may end later.
        closed = row.state == TournamentState.CLOSED
        ended = float(row.ended) if closed and row.ended is not None else math.inf
        if is_of_ladder(row, match_filter.form) and window.meets(row.created, ended):
            chosen.append((str(row.id), ended))
    return sorted(chosen, key=lambda each: -each[1])


def _merged(
    connection: Connection,
    window: _Window,
    ranges: Iterable[tuple[float, Select[Any]]],
    ended: Column[float],
    match: Column[str],
) -> Iterator[SearchPosition]:
    """Merge ranges of an index, and stop when the remaining ones are too old for the page.

    Args:
        connection: a read-only transaction.
        window: the part that the page needs.
        ranges: the latest possible end of each range, in descending order, and its query.
    """
    newest: list[SearchPosition] = []
    for latest, query in ranges:
        if len(newest) >= window.limit and newest[-1].ended > latest:
            break
        more = window.read(connection, query, ended, match)
        both = merge(newest, more, key=lambda position: position.order)
        newest = list(islice(_without_repeats(both), window.limit))
    return iter(newest)

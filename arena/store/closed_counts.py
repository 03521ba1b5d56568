"""Counters of closed matches for metrics: each match that closes is counted exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, func, select

from arena.store import closings, schema
from arena.store.bots.remote_bots import is_relayed
from arena.store.database import id_batches, reading
from arena.store.match_settings import ladder_of_row
from arena.store.matches import closed_matches
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.schema import OPEN, ClosingKind, MatchState, TournamentState

REMOTE: Final = "remote"
"""Stands for the language of a bot that runs on its author's machine."""
ENDED: Final = tuple(state for state in MatchState if state not in OPEN)
"""The states in which a match has ended."""


@dataclass(frozen=True, slots=True)
class MatchClosing:
    """A match that has closed.

    Attributes:
        match: the match.
        seconds: the duration of its last attempt.
        languages: of its entrants, from their manifests, empty if a manifest omits it; `REMOTE` for
            a remote bot.
    """

    match: PlayedMatch
    seconds: float
    languages: tuple[str, ...]


class ClosingReader:
    """The matches that close after this object was created.

    The constructor and `new` raise the errors of the store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._languages: dict[str, str] = {}
        self._position = closings.newest_closing_of(engine)

    def new(self) -> list[MatchClosing]:
        """Return the matches that have closed since the last call."""
        found: list[MatchClosing] = []
        position = self._position
        with reading(self._engine) as connection:
            while events := closings.closings_after(connection, position):
                position = events[-1].seq
                closed = [each.match for each in events if each.kind is ClosingKind.MATCH_CLOSED]
                found.extend(self._closings(connection, closed))
        self._position = position
        return found

    def _closings(self, connection: Connection, ids: Sequence[str]) -> Iterator[MatchClosing]:
        results, matches = schema.results, schema.matches
        for batch in id_batches(ids):
            query = (
                select(*results.c["match", "closed"], matches.c.leased)
                .join(matches, matches.c.id == results.c.match)
                .where(results.c.match.in_(batch))
            )
            rows = connection.execute(query).all()
            found = closed_matches.with_ids(connection, [row.match for row in rows])
            self._load_languages(
                {name for match in found.values() for name in match.entrants}, connection
            )
            for row in rows:
                match = found[row.match]
                seconds = 0.0 if row.leased is None else max(0.0, row.closed - row.leased)
                languages = tuple(self._languages[name] for name in match.entrants)
                yield MatchClosing(match, seconds, languages)

    def _load_languages(self, names: set[str], connection: Connection) -> None:
        versions = schema.versions
        unknown = sorted(names - self._languages.keys())
        for batch in id_batches(unknown):
            chosen = versions.c.id.in_(batch)
            for name, manifest in connection.execute(
                select(versions.c.id, versions.c.manifest).where(chosen)
            ):
                away = is_relayed(manifest) or "address" in manifest
                self._languages[name] = REMOTE if away else str(manifest.get("language", ""))


class TournamentLadders:
    """The ladders of tournaments, by tournament id, cached because they never change."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, str] = {}

    def of(self, tournament: str) -> str:
        """Return the name of the ladder to whose form and clock class a tournament belongs."""
        if tournament not in self._known:
            table = schema.tournaments
            with reading(self._engine) as connection:
                columns = table.c["id", "game", "seats", "options", "allowance_ms", "bank_ms"]
                for row in connection.execute(select(*columns)):
                    self._known[row.id] = ladder_of_row(row)
        return self._known[tournament]


class EndedCounts:
    """The total number of ended matches of each tournament, by final state."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Closed tournaments: none of their matches can end any more, so their counts are cached.
        self._settled: dict[str, dict[MatchState, int]] = {}

    def now(self) -> Mapping[str, Mapping[MatchState, int]]:
        """Return the counts by tournament and state."""
        table = schema.tournaments
        with reading(self._engine) as connection:
            query = select(*table.c["id", "state"])
            states = {str(name): str(state) for name, state in connection.execute(query)}
            moving = [name for name in states if name not in self._settled]
            counts = _ended(connection, moving)
        for name, state in states.items():
            if state == TournamentState.CLOSED and name not in self._settled:
                self._settled[name] = counts[name]
        return {**self._settled, **counts}


def _ended(connection: Connection, ids: Sequence[str]) -> dict[str, dict[MatchState, int]]:
    matches = schema.matches
    counts: dict[str, dict[MatchState, int]] = {name: {} for name in ids}
    for batch in id_batches(ids):
        query = (
            select(matches.c.tournament, matches.c.state, func.count())
            .where(matches.c.state.in_(ENDED), matches.c.tournament.in_(batch))
            .group_by(matches.c.tournament, matches.c.state)
        )
        for name, state, number in connection.execute(query):
            counts[name][MatchState(state)] = int(number)
    return counts

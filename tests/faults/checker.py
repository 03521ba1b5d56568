"""Check the guarantees of an arena after faults, and count its matches."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from statistics import quantiles
from typing import Any

import pytest

from arena.ladders import ladder_key, rater
from arena.ratings import standings
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.meetings import Meetings
from arena.ratings.strength.fit import strengths
from arena.records.bundle.audit import audit
from arena.records.bundle.collection import gather
from arena.store.matches import games, listing, results
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from referee import record
from tests.faults.fault_arena import Arena
from tests.faults.witness import Witness

RESUME_SECONDS = 20.0
"""Maximum time until an interrupted match is leased again, at the 95th percentile (issue 4)."""


@dataclass
class Tally:
    """The counts of one run, or the sum of several runs with the same name."""

    run: str
    matches: int = 0
    closed: int = 0
    void: int = 0
    cancelled: int = 0
    lost: int = 0
    doubled: int = 0
    resumed: list[float] = field(default_factory=list)

    @property
    def p95(self) -> float | None:
        """Seconds to the next lease at the 95th percentile; None if no match was leased again."""
        if len(self.resumed) < 2:
            return self.resumed[0] if self.resumed else None
        return quantiles(self.resumed, n=20, method="inclusive")[-1]

    def row(self) -> tuple[object, ...]:
        slowest = "–" if self.p95 is None else f"{self.p95:.1f}"
        ended = (self.closed, self.void + self.cancelled)
        return (self.run, self.matches, *ended, self.lost, self.doubled, len(self.resumed), slowest)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


HEADINGS = ("run", "matches", "closed", "void", "lost", "doubled", "taken up", "p95 s")


def table(lines: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table: one for each name of a run, sorted by name."""
    tallies: dict[str, Tally] = {}
    for tally in (Tally(**fields) for fields in lines):
        summed = tallies.setdefault(tally.run, Tally(tally.run))
        for word in ("matches", "closed", "void", "cancelled", "lost", "doubled", "resumed"):
            setattr(summed, word, getattr(summed, word) + getattr(tally, word))
    rows = [HEADINGS, *(tallies[run].row() for run in sorted(tallies))]
    width = max(len(str(row[0])) for row in rows)
    for row in rows:
        yield f"{row[0]!s:<{width}}" + "".join(f"{value!s:>10}" for value in row[1:])


def check(arena: Arena, witness: Witness, run: str) -> Tally:
    """Count the matches; fail if a match is lost, doubled or wrong, or if something is left behind.

    All tournaments must be over, and all services must have exited.
    """
    stored_matches = listing.matches(arena.engine)
    by_state = {state: [m for m in stored_matches if m.state is state] for state in MatchState}
    tally = Tally(
        run,
        matches=len(stored_matches),
        closed=len(by_state[MatchState.CLOSED]),
        void=len(by_state[MatchState.VOID]),
        cancelled=len(by_state[MatchState.CANCELLED]),
        resumed=witness.resumed(),
    )
    tally.lost = tally.matches - tally.closed - tally.void - tally.cancelled
    tally.doubled = len(witness.doubled) + _played_twice(arena)
    print(" · ".join(map(str, tally.row())))
    assert (tally.lost, tally.doubled) == (0, 0)
    assert all(match.reason for match in by_state[MatchState.VOID])
    _check_tournament_ends(arena)
    _check_committed_games(arena, witness)
    closed = _check_results(arena)
    assert len(closed) == tally.closed
    _check_ratings(arena, closed)
    _check_leftovers(arena)
    return tally


def _played_twice(arena: Arena) -> int:
    """Count surplus results and games, independently of the database's unique keys."""
    surplus = arena.sql("SELECT count(*) - count(DISTINCT match) FROM results")[0][0]
    first = [
        (match, json.loads(lines.partition("\n")[0])["game"])
        for match, lines in arena.sql("SELECT match, record FROM games")
    ]
    return int(surplus) + len(first) - len(set(first))


def _check_tournament_ends(arena: Arena) -> None:
    for tournament in tournaments.list_tournaments(arena.engine):
        states = {match.state for match in listing.matches(arena.engine, tournament=tournament.id)}
        if tournament.state is TournamentState.CLOSED:
            # Matches of a withdrawn entrant are cancelled.
            assert states <= {MatchState.CLOSED, MatchState.VOID, MatchState.CANCELLED}
        else:
            assert tournament.state is TournamentState.CANCELLED
            assert states <= {MatchState.CLOSED, MatchState.VOID, MatchState.CANCELLED}


def _check_committed_games(arena: Arena, witness: Witness) -> None:
    """Check that committed games are unchanged, and that each attempt wrote before the next one."""
    rows = arena.sql("SELECT match, game, attempt, committed FROM games ORDER BY match, committed")
    stands = {(match, game): (attempt, at) for match, game, attempt, at in rows}
    assert {key: stands.get(key) for key in witness.games} == witness.games
    for _, written in groupby(rows, lambda row: row[0]):
        attempts = [attempt for _, _, attempt, _ in written]
        assert attempts == sorted(attempts)


def _check_results(arena: Arena) -> list[ClosedMatch]:
    """Verify all tournaments, and return the closed matches as rebuilt from their records.

    The verification covers seeds, records, the schedule and the standings, as
    `pokearena tournament verify` does.
    """
    for tournament in tournaments.list_tournaments(arena.engine):
        assert audit(gather(arena.engine, tournament.id)).problems == ()
    closed_matches = list(results.closed(arena.engine))
    again = [
        _from_record(results.record(arena.engine, match.id), match) for match in closed_matches
    ]
    assert again == closed_matches
    return again


def _from_record(text: str, closed_match: ClosedMatch) -> ClosedMatch:
    match = record.read(text).match
    entrants = [version for version, _ in match["entrants"]]
    lines: dict[int, list[str]] = defaultdict(list)
    for line in text.splitlines(keepends=True):
        document = json.loads(line)
        if document["type"] not in ("match", "seed"):
            lines[document["game"]].append(line)
    played = [games.read("".join(lines[number]), entrants) for number in sorted(lines)]
    return ClosedMatch(
        match["match"],
        match["round"],
        match["number"],
        tuple(entrants),
        tuple(game.result_only() for game in played),
        closed_match.tournament,
    )


def _check_ratings(arena: Arena, again: list[ClosedMatch]) -> None:
    closed_matches = list(results.closed(arena.engine))
    for tournament in tournaments.list_tournaments(arena.engine):
        key = ladder_key.of_tournament(tournament)
        stored = rater.current_ladder(arena.engine, key).table
        ids = {match.id for match in results.closed(arena.engine, [tournament.id])}
        anew = [match for match in again if match.id in ids]
        computed = standings.of_matches(reversed(anew), key.clip, key.entrants, key.strength).table
        assert [replace(line, elo=0.0) for line in stored.lines] == [
            replace(line, elo=0.0) for line in computed.lines
        ]
        elo = [[line.elo for line in table.lines] for table in (stored, computed)]
        assert elo[0] == pytest.approx(elo[1], rel=0, abs=1e-9)
    assert strengths(Meetings.of(closed_matches)) == strengths(Meetings.of(reversed(again)))


def _check_leftovers(arena: Arena) -> None:
    """Check for leases, sockets, temporary files and services. (Processes: `orphanage`.)"""
    held = arena.sql("SELECT id FROM matches WHERE owner IS NOT NULL OR lease_until IS NOT NULL")
    assert held == []
    left = [str(path) for path in arena.temporary.rglob("*")]
    assert left == [], left
    assert arena.where.running() is None

"""The Elo ratings of a ladder, continued from the last rounds that are settled.

Elo depends on the order of rounds: by age of the tournament, then by number. The ratings after the
first rounds that are all over are stored, and only later rounds are rated again. If a match of a
settled round closes late, is replayed or becomes void, all rounds are rated again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.elo import EloSettings, after_round
from arena.store import schema
from arena.store.matches import closed_matches
from arena.store.schema import ClosingKind

_SETTINGS: Final = EloSettings()


class Round(NamedTuple):
    """A round of a ladder: the position of its tournament by age, and its number."""

    tournament: int
    number: int


@dataclass(frozen=True, slots=True)
class EloRatings:
    """The Elo ratings of a ladder.

    Attributes:
        settled_round: the last round that is settled; None: none is.
        settled: the ratings after it, by entrant.
        ratings: the ratings after all rounds, by entrant.
    """

    settled_round: Round | None
    settled: Mapping[str, float]
    ratings: Mapping[str, float]


NO_RATINGS: Final = EloRatings(None, {}, {})


def advance(
    connection: Connection, of: Sequence[str], until: int, stored: EloRatings, since: int
) -> EloRatings:
    """Return the ratings by all matches that count at a position of the sequence of events.

    Args:
        connection: a reading transaction.
        of: the tournaments, the oldest first.
        until: the position.
        stored: the ratings at an earlier position; `NO_RATINGS` rates all rounds.
        since: that position.
    """
    if _is_late(connection, of, until, stored.settled_round, since):
        stored = NO_RATINGS
    over = _rounds_over(connection, of, until)
    settled_round, settled = stored.settled_round, stored.settled
    ratings, is_settled = settled, True
    for number, matches in _rounds(connection, of, until, settled_round):
        ratings = after_round(ratings, matches, _SETTINGS)
        is_settled = is_settled and number in over
        if is_settled:
            settled_round, settled = number, ratings
    return EloRatings(settled_round, settled, ratings)


def _is_late(
    connection: Connection, of: Sequence[str], until: int, settled: Round | None, since: int
) -> bool:
    """Return whether a match of a settled round closed or became void after a position."""
    if settled is None:
        return False
    events, matches = schema.closings, schema.matches
    query = (
        select(*matches.c["tournament", "round"])
        .join(events, events.c.match == matches.c.id)
        .where(events.c.tournament.in_(of), events.c.seq > since, events.c.seq <= until)
    )
    rows = connection.execute(query).all()
    return any(Round(of.index(row.tournament), row.round) <= settled for row in rows)


def _rounds_over(connection: Connection, of: Sequence[str], until: int) -> set[Round]:
    table = schema.round_ends
    query = select(*table.c["tournament", "round"]).where(
        table.c.tournament.in_(of), table.c.seq <= until
    )
    return {Round(of.index(row.tournament), row.round) for row in connection.execute(query)}


def _rounds(
    connection: Connection, of: Sequence[str], until: int, after: Round | None
) -> Iterator[tuple[Round, list[ClosedMatch]]]:
    """Yield the rounds after one, with the matches that count, in order."""
    for age, tournament in enumerate(of):
        if after is not None and age < after.tournament:
            continue
        first = after.number + 1 if after is not None and age == after.tournament else 0
        rows = _counting(connection, tournament, first, until)
        for number, group in groupby(rows, lambda row: row.round):
            names = [row.id for row in group]
            found = closed_matches.with_ids(connection, names, with_thinking=False)
            yield Round(age, number), [played.result for played in found.values()]


def _counting(connection: Connection, tournament: str, first: int, until: int) -> Sequence[Any]:
    """Return ids and rounds of the matches of a tournament that count at a position."""
    matches, events = schema.matches, schema.closings
    voided = events.alias()
    is_void = select(voided.c.seq).where(
        voided.c.match == matches.c.id,
        voided.c.kind == ClosingKind.MATCH_VOIDED,
        voided.c.seq <= until,
    )
    query = (
        select(*matches.c["id", "round"])
        .join(events, events.c.match == matches.c.id)
        .where(
            matches.c.tournament == tournament,
            matches.c.round >= first,
            events.c.kind == ClosingKind.MATCH_CLOSED,
            events.c.seq <= until,
            ~is_void.exists(),
        )
        .order_by(matches.c.round, matches.c.number)
    )
    return connection.execute(query).all()

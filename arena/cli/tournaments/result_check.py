"""Check that all matches of tournaments are complete and their records correct."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.store.matches import listing, results
from arena.store.matches.listing import Match
from arena.store.schema import MatchState
from arena.system import process_pool
from referee.record import RecordError, read
from referee.replay import verify

if TYPE_CHECKING:
    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A checked match."""

    match: Match
    seed: bytes | None
    """The seed, revealed when the match was closed."""
    problems: tuple[str, ...]
    """One sentence per problem; empty if the match is closed and its record correct."""


def check(engine: Engine, tournaments: Iterable[str]) -> tuple[CheckedMatch, ...]:
    """Check every match of these tournaments.

    Deals are recomputed, actions replayed and scores computed again.
    """
    matches = [m for name in tournaments for m in listing.matches(engine, tournament=name)]
    records = (results.record(engine, m.id) for m in matches)
    verified = process_pool.each(_verify, records, len(matches))
    return tuple(
        CheckedMatch(match, seed, (*_lost(match), *problems) if match.committed else _lost(match))
        for match, (seed, problems) in zip(matches, verified, strict=True)
    )


def _lost(match: Match) -> tuple[str, ...]:
    if match.state is not MatchState.CLOSED:
        return (f"{match.id} is {match.state.lower()}: {match.reason or 'not played'}",)
    if match.committed != match.games:
        return (f"{match.id} has {match.committed} of {match.games} games",)
    return ()


def _verify(record: str) -> tuple[bytes | None, tuple[str, ...]]:
    try:
        parsed = read(record)
    except RecordError as error:
        return None, (str(error),)
    return parsed.seed, tuple(verify(parsed))

"""Read the bundle of a tournament from the store as a consistent snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from arena.errors import Conflict
from arena.ladders import ladder_key, rater
from arena.records.bundle import bundle
from arena.records.bundle.bundle import Bundle, BundledVersion, Scheduled
from arena.store import closings
from arena.store.bots import versions
from arena.store.database import reading
from arena.store.matches import listing, results
from arena.store.schema import ClosingKind
from arena.store.tournaments import lifecycle, schedule, tournaments
from arena.tournaments import scheduler

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament

_TRIES: Final = 20


def gather(
    engine: Engine, tournament: str, redact: Callable[[str], str] = lambda record: record
) -> Bundle:
    """Return the bundle of a tournament; its records are read from the store on access.

    The bundle contains only public information: no seeds or cards of open matches, and no
    tournament seed before the tournament is closed.

    Args:
        redact: transforms each record before it is returned (`arena.records.published_faults`).

    Raises:
        NotFound: the tournament does not exist.
        Conflict: the tournament changed during each of 20 attempts to read it.
    """
    for _ in range(_TRIES):
        before = lifecycle.marks(engine, tournament)
        current = tournaments.find_tournament(engine, tournament)
        bundle = _bundle(engine, current, redact)
        after = tournaments.find_tournament(engine, tournament)
        # Marks count changes of matches and entrants; a pause or the end changes the state.
        if (lifecycle.marks(engine, tournament), after.state) == (before, current.state):
            return bundle
    raise Conflict(
        f"tournament {tournament} changed during every attempt to read it. Pause it first: "
        f"`pokearena tournament pause {tournament}`.",
        code="tournament-changing",
    )


def _bundle(engine: Engine, tournament: Tournament, redact: Callable[[str], str]) -> Bundle:
    with reading(engine) as connection:
        strengths = schedule.read_strengths(connection, tournament.id)
        events = closings.events_of_matches(connection, tournament.id) if strengths else {}
    matches = tuple(
        _scheduled(match, events.get(match.id, {}))
        for match in listing.matches(engine, tournament=tournament.id)
    )
    return Bundle(
        tournament=tournament,
        versions={name: _version(engine, name) for name in tournament.entrants},
        matches=matches,
        records=_Records(engine, [match.match for match in matches if match.over], redact),
        standings=bundle.conclude(
            tournament.plan,
            rater.current_ladder(engine, ladder_key.of_tournament(tournament)).table,
            scheduler.current_step(engine, tournament),
        ),
        strengths=strengths,
    )


def _version(engine: Engine, name: str) -> BundledVersion:
    version = versions.find_version(engine, name)
    return BundledVersion(version.content_hash, remote=not version.folder)


def _scheduled(match: Match, events: Mapping[ClosingKind, int]) -> Scheduled:
    return Scheduled(
        match=match.id,
        key=match.key,
        round=match.round,
        number=match.number,
        why=match.why,
        entrants=match.entrants,
        commitment=match.commitment,
        state=match.state,
        reason=match.reason,
        attempts=match.attempt,
        closed=events.get(ClosingKind.MATCH_CLOSED),
        voided=events.get(ClosingKind.MATCH_VOIDED),
        forfeited_by=match.forfeited_by,
    )


class _Records(Mapping[str, str]):
    """Records by match id, read from the store."""

    def __init__(self, engine: Engine, over: list[str], redact: Callable[[str], str]) -> None:
        self._engine = engine
        self._redact = redact
        self._over = dict.fromkeys(over)

    def __getitem__(self, match: str) -> str:
        if match not in self._over:
            raise KeyError(match)
        return self._redact(results.record(self._engine, match))

    def __iter__(self) -> Iterator[str]:
        return iter(self._over)

    def __len__(self) -> int:
        return len(self._over)

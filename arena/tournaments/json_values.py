"""Convert tournaments and matches to plain values for JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from arena.store.schema import MatchState

if TYPE_CHECKING:
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament, TournamentProgress


def iso(seconds: float | None) -> str | None:
    """Convert seconds since 1970 to ISO 8601 in UTC, with milliseconds; None stays None."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def tournament(tournament: Tournament, progress: TournamentProgress) -> dict[str, Any]:
    """Return a tournament without its matches."""
    return {
        "tournament": tournament.id,
        **tournament.plan.to_json(),
        "form": tournament.plan.form,
        "entrants": list(tournament.entrants),
        "owners": {entry.name: entry.owner for entry in tournament.entries if entry.owner},
        "withdrawn": [entry.name for entry in tournament.entries if entry.withdrawn is not None],
        "state": str(tournament.state),
        "created": iso(tournament.created),
        "ended": iso(tournament.ended),
        "seed": None if tournament.seed is None else tournament.seed.hex(),
        "matches": {state.lower(): getattr(progress, state.lower()) for state in MatchState},
        "games": progress.games,
        "planned": progress.planned,
    }


def match(match: Match) -> dict[str, Any]:
    """Return the public fields of a match, without the seed."""
    return {
        "match": match.id,
        "tournament": match.tournament,
        "game": match.game,
        "round": match.round,
        "number": match.number,
        "replay": match.replay,
        "entrants": list(match.entrants),
        "state": match.state.lower(),
        "attempts": match.attempt,
        "games": match.committed,
        "planned": match.games,
        "commitment": match.commitment,
        "why": match.why,
        "reason": match.reason,
        "forfeited_by": match.forfeited_by,
        "next_attempt": iso(match.retry_at),
        "ended": iso(match.ended),
    }

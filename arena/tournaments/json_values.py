"""Convert tournaments and matches to plain values for JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from arena.store.schema import MatchState

if TYPE_CHECKING:
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Progress, Tournament


def iso(seconds: float | None) -> str | None:
    """Convert seconds since 1970 to ISO 8601 in UTC, with milliseconds; None stays None."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def tournament(found: Tournament, progress: Progress) -> dict[str, Any]:
    """Return a tournament without its matches.

    Args:
        found: the tournament.
        progress: its numbers of matches and games.
    """
    plan = found.plan
    return {
        "tournament": found.id,
        "name": plan.name,
        "game": plan.game,
        "form": plan.form,
        "options": dict(plan.options),
        "seats": plan.seats,
        "boards": plan.boards,
        "format": plan.format,
        "settings": dict(plan.settings),
        "clock": {
            "start_ms": plan.clock.start_ms,
            "allowance_ms": plan.clock.allowance_ms,
            "bank_ms": plan.clock.bank_ms,
        },
        "policy": plan.policy,
        "entrants": list(found.entrants),
        "owners": {entry.name: entry.owner for entry in found.entries if entry.owner},
        "withdrawn": [entry.name for entry in found.entries if entry.withdrawn is not None],
        "state": str(found.state),
        "created": iso(found.created),
        "ended": iso(found.ended),
        "seed": None if found.seed is None else found.seed.hex(),
        "matches": {state.lower(): getattr(progress, state.lower()) for state in MatchState},
        "games": progress.games,
        "planned": progress.planned,
    }


def match(found: Match) -> dict[str, Any]:
    """Return the public fields of a match, without the seed."""
    return {
        "match": found.id,
        "tournament": found.tournament,
        "game": found.game,
        "round": found.round,
        "number": found.number,
        "entrants": list(found.entrants),
        "state": str(found.state),
        "attempts": found.attempt,
        "games": found.committed,
        "planned": found.games,
        "commitment": found.commitment,
        "why": found.why,
        "reason": found.reason,
        "ended": iso(found.ended),
    }

"""Announcements: closed matches, tournaments that start and end, and new versions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from arena.ladders import ladder_key, rater
from arena.store.schema import TournamentState
from arena.store.webhooks import AnnouncementType
from arena.tournaments import tournament_outcome
from arena.tournaments.json_values import iso
from arena.tournaments.tournament_outcome import FirstPlace

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.bots.versions import Version
    from arena.store.matches.closed_matches import PlayedMatch
    from arena.store.tournaments.tournaments import Tournament

_NAMESPACE: Final = uuid.UUID("6f0d6f0e-5c1e-4f0b-9a57-1d2f6f0b7c11")
"""Namespace of the identities (RFC 9562, version 5)."""
_EQUAL: Final = 1e-9
_NAMED: Final = 4
"""Maximum number of first entrants that a title names."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """One announcement.

    Attributes:
        subject: id of the match, tournament or version.
        at: when it happened, in seconds since 1970.
        title: one sentence without a period.
        summary: details in one line.
        page: segments of the path of its web page.
        data: the details as JSON values.
    """

    type: AnnouncementType
    subject: str
    at: float
    title: str
    summary: str
    page: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The URN that identifies it in all feeds; its time distinguishes arenas."""
        return identity(str(self.type), self.subject, self.at)


def identity(*words: object) -> str:
    """Return the URN of the UUID that is derived from these words."""
    return uuid.uuid5(_NAMESPACE, ":".join(map(str, words))).urn


def closed_match(match: PlayedMatch) -> Announcement:
    """Announce the result of a match."""
    scores = {name: match.score(name) for name in match.entrants}
    best = max(scores.values()) - _EQUAL
    first = [name for name, score in scores.items() if score >= best]
    winner = first[0] if len(first) == 1 else None
    parts = [f"{name} {100 * score:.0f} %" for name, score in scores.items()]
    games = len(match.games)
    return Announcement(
        AnnouncementType.MATCH_CLOSED,
        match.match,
        match.closed,
        f"{winner} won against {enumerated(match.opponents(winner))}"
        if winner
        else f"{enumerated(first)} {'drew' if len(scores) == 2 else 'shared the first place'}",
        f"{match.ladder}, {match.name}, round {match.round + 1}: {', '.join(parts)}, "
        f"{games} game{'s' if games != 1 else ''}",
        ("matches", match.match),
        {
            "match": match.match,
            "tournament": match.tournament,
            "form": match.form,
            "ladder": match.ladder,
            "round": match.round,
            "closed": iso(match.closed),
            "winner": winner,
            "scores": {name: round(score, 6) for name, score in scores.items()},
            "games": games,
            "faults": match.faults(),
        },
    )


def started_tournament(tournament: Tournament) -> Announcement:
    return Announcement(
        AnnouncementType.TOURNAMENT_STARTED,
        tournament.id,
        tournament.created,
        f"{tournament.plan.name} started",
        _kind(tournament),
        ("tournaments", tournament.id),
        {**_details(tournament), "entrants": list(tournament.entrants)},
    )


def ended_tournament(tournament: Tournament, first: FirstPlace | None = None) -> Announcement:
    """Announce the end of a tournament, which must have ended.

    Args:
        first: its first place; None: not stated.
    """
    leaders = first.names if first else ()
    if tournament.state is TournamentState.CANCELLED:
        result = "was cancelled"
    elif first is None:
        result = "ended"
    elif len(leaders) == 1:
        result = f"ended: {leaders[0]} won"
    else:
        several = len(leaders) > _NAMED
        between = f"{len(leaders)} bots" if several else enumerated(leaders)
        words = "shared by" if first.has_rule else "not decided between"
        result = f"ended: first place {words} {between}"
    return Announcement(
        AnnouncementType.TOURNAMENT_ENDED,
        tournament.id,
        tournament.ended or 0.0,
        f"{tournament.plan.name} {result}",
        _kind(tournament),
        ("tournaments", tournament.id),
        {
            **_details(tournament),
            "state": str(tournament.state),
            "ended": iso(tournament.ended),
            "winners": list(leaders),
        },
    )


def added_version(version: Version) -> Announcement:
    """Announce a new version of a bot."""
    by = version.owner or ", ".join(version.authors)
    return Announcement(
        AnnouncementType.VERSION_ADDED,
        version.id,
        version.created,
        f"{version.id} was added",
        f"Version {version.number} of the bot {version.name}" + (f" by {by}" if by else ""),
        ("bots", version.name),
        {
            "version": version.id,
            "bot": version.name,
            "owner": version.owner,
            "language": version.language,
            "created": iso(version.created),
        },
    )


def first_place(engine: Engine, tournament: Tournament) -> FirstPlace | None:
    """Return the first place of a tournament from its current results; None if nobody has it."""
    if tournament.state is not TournamentState.CLOSED:
        return None  # Its results need not be rated.
    step = tournament_outcome.next_step(engine, tournament)
    table = rater.current_ladder(engine, ladder_key.of_tournament(tournament)).table
    return tournament_outcome.first_place(tournament, step, table)


def enumerated(names: Sequence[str]) -> str:
    """Return names as "a", "a and b" or "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _kind(tournament: Tournament) -> str:
    plan, bots = tournament.plan, len(tournament.entrants)
    return f"{plan.ladder}, {plan.format}, {bots} bot{'s' if bots != 1 else ''}"


def _details(tournament: Tournament) -> dict[str, Any]:
    plan = tournament.plan
    return {
        "tournament": tournament.id,
        "name": plan.name,
        "form": plan.form,
        "ladder": plan.ladder,
        "format": plan.format,
        "created": iso(tournament.created),
    }

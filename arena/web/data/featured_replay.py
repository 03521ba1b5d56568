"""Selects a replay worth watching from stored results, for pages without a live table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine

from arena.ratings.closed_match import PlayedGame
from arena.ratings.lead_changes import lead_changes
from arena.store.matches import results
from arena.store.matches.closed_matches import PlayedMatch
from referee.presentation.registry import presentation_of

CANDIDATES: Final = 40
"""Number of closed matches among which the replay is selected."""
MOST_GAMES: Final = 200
"""Maximum number of games of such a match; the results of larger ones take long to read."""


@dataclass(frozen=True, slots=True)
class FeaturedReplay:
    """A game of a closed match, and why it is worth watching.

    Args:
        match: the match ID.
        form: the form of the game.
        entrants: the versions.
        game: the number of the game within the match.
        closeness: from 0 to 1; 1 if the first two of the match have equal points.
        swings: how often another entrant took the lead (`arena.ratings.lead_changes`).
    """

    match: str
    form: str
    entrants: tuple[str, ...]
    game: int
    closeness: float
    swings: int

    def to_json(self) -> dict[str, Any]:
        """Return the selection as JSON values."""
        return {
            "match": self.match,
            "form": self.form,
            "game": self.game,
            "closeness": round(self.closeness, 3),
            "swings": self.swings,
        }


def featured_replay(engine: Engine) -> FeaturedReplay | None:
    """Return the most exciting game among the latest closed matches; None without a candidate."""
    return select(results.latest_closed(engine, CANDIDATES, MOST_GAMES))


def select(candidates: Iterable[PlayedMatch]) -> FeaturedReplay | None:
    """Return the best candidate; the same matches always lead to the same game.

    A match counts by its closeness plus its share of games that changed the lead. Equal matches
    are ordered by ID.

    Args:
        candidates: closed matches with their forms.
    """
    replays = [
        (replay, len(candidate.games))
        for candidate in candidates
        if (replay := replay_of(candidate)) is not None
    ]
    best = min(
        replays,
        key=lambda replay: (-replay[0].closeness - replay[0].swings / replay[1], replay[0].match),
        default=None,
    )
    return None if best is None else best[0]


def replay_of(match: PlayedMatch) -> FeaturedReplay | None:
    """Return the game of a closed match to show: the last that changed the lead, else the closest.

    If each game ended by a fault, return None.
    """
    scored = [game for game in match.games if game.scores is not None and not any(game.faults)]
    if not scored:
        return None
    clip = presentation_of(match.game).clip
    turning = [change.game for change in lead_changes(match.games)[1:]]
    turned = [game for game in scored if game in turning]
    shown = turned[-1] if turned else min(scored, key=_order)
    scored_points = [game.scores for game in match.games if game.scores]
    totals = [sum(points) for points in zip(*scored_points, strict=True)]
    margin = _margin(totals) / (clip * len(match.games))
    return FeaturedReplay(
        match=match.match,
        form=match.form,
        entrants=match.entrants,
        game=shown.game,
        closeness=1 - min(margin, 1.0),
        swings=len(turning),
    )


def _order(game: PlayedGame) -> tuple[int, int]:
    return _margin(game.scores or ()), game.game


def _margin(scores: Iterable[int]) -> int:
    """Return the difference between the best two scores."""
    first, second, *_ = sorted(scores, reverse=True)
    return first - second

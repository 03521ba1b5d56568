"""Summarize the games of a match for storage with its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.presentation.registry import presentation_of
from arena.ratings.closed_match import ClosedGame, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.match_digest import digest


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """The stored summary of a match.

    Attributes:
        outcome: entrants, and the results of the games.
        digest: the text of its `arena.ratings.match_digest.Digest`.
        thinking: decision times by entrant; None unless all games have them.
    """

    outcome: Mapping[str, Any]
    digest: str
    thinking: list[list[int]] | None
    """By entrant; None if it was not counted in all games."""


def summarize(
    game: str,
    match: str,
    entrants: Sequence[str],
    games: Sequence[Mapping[str, Any]],
    thinking: Sequence[Sequence[Sequence[int]] | None],
) -> MatchSummary:
    """Summarize a match.

    Args:
        game: id of the game, which determines the clip of margins.
        match: the match's id.
        entrants: versions in order.
        games: the stored results of the games, in order of their numbers.
        thinking: for each game the stored decision times by entrant; None or empty if they were
            not counted.
    """
    values = {"entrants": list(entrants), "games": list(games)}
    closed = ClosedMatch(match, 0, 0, tuple(entrants), games_of(values))
    counted = [each for each in thinking if each]
    added = [
        sum((DecisionHistogram.read(each[place]) for each in counted), DecisionHistogram()).stored()
        for place in range(len(entrants))
    ]
    whole = added if len(counted) == len(games) else None
    return MatchSummary(values, digest(closed, presentation_of(game).clip).text(), whole)


def games_of(outcome: Mapping[str, Any]) -> tuple[ClosedGame, ...]:
    """Return the games of a stored outcome."""
    return tuple(map(_closed_game, outcome["games"]))


def _closed_game(played: Mapping[str, Any]) -> ClosedGame:
    scores = played["scores"]
    return ClosedGame(
        game=played["game"],
        places=tuple(played["places"]),
        scores=None if scores is None else tuple(scores),
        verdicts=tuple(played["verdicts"]),
        faults=tuple(played["faults"]),
    )

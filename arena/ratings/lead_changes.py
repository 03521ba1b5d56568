"""Changes of the lead in a match, game by game. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.ratings.closed_match import PlayedGame


@dataclass(frozen=True, slots=True)
class LeadChange:
    """A game after which another entrant led alone, by the score that decides the match."""

    game: PlayedGame
    entrant: int
    """Number of the new leader among the entrants."""


def lead_changes(games: Sequence[PlayedGame]) -> list[LeadChange]:
    """Return the games that gave the lead to an entrant; the first one opens the match.

    Args:
        games: the games in their order.
    """
    changes: list[LeadChange] = []
    halves = [0] * (len(games[0].places) if games else 0)
    for game in games:
        for first, second in combinations(range(len(halves)), 2):
            halves[first] += game.halves(first, second)
            halves[second] += game.halves(second, first)
        most = max(halves)
        leader = halves.index(most)
        if halves.count(most) == 1 and (not changes or changes[-1].entrant != leader):
            changes.append(LeadChange(game, leader))
    return changes

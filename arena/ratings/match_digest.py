"""Digests of closed matches: the values that a ladder requires, without the single games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from arena.ratings import points
from arena.ratings.closed_match import FINISHED, ClosedMatch, MatchScore
from arena.ratings.points import Margins


@dataclass(frozen=True, slots=True)
class Digest(MatchScore):
    """The digest of a match; tuples are in the order of its entrants.

    Attributes:
        wins: games with the first place alone.
        draws: games with a shared first place.
        points: sum of the scores, in the game's own points, over games with scores.
        clip: limit of the margins.
        margins: the margins of the entrants.
        verdicts: numbers of games of each entrant by verdict, except finished ones.
    """

    wins: tuple[int, ...]
    draws: tuple[int, ...]
    points: tuple[int, ...]
    clip: int
    margins: Margins
    verdicts: tuple[Mapping[str, int], ...]


def digest(match: ClosedMatch, clip: int) -> Digest:
    """Compute the digest of a match; `clip` is the limit of margins, in the game's points."""
    places = range(len(match.entrants))
    firsts = [(game.places, game.places.count(1) > 1) for game in match.games]
    scored = [game.scores for game in match.games if game.scores is not None]
    return Digest(
        id=match.id,
        tournament=match.tournament,
        round=match.round,
        number=match.number,
        entrants=match.entrants,
        played=match.played,
        halves=match.halves,
        wins=tuple(sum(ranks[at] == 1 and not shared for ranks, shared in firsts) for at in places),
        draws=tuple(sum(ranks[at] == 1 and shared for ranks, shared in firsts) for at in places),
        points=tuple(sum(scores[at] for scores in scored) for at in places),
        clip=clip,
        margins=points.margins(match, clip),
        verdicts=tuple(
            Counter(game.verdicts[at] for game in match.games if game.verdicts[at] != FINISHED)
            for at in places
        ),
    )

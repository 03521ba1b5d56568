"""Digests of closed matches: the values that a ladder requires, without the single games."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.ratings import points
from arena.ratings.closed_match import FINISHED, ClosedMatch, MatchScore
from arena.ratings.points import Margins

SEPARATOR = "\t"
"""Separates the score of a match from the other values in the text of a digest."""


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

    def text(self) -> str:
        """Return the stored form: two JSON arrays, the score and the other values, joined by a tab.

        The text omits id, tournament, round and number, which are stored in other columns. Equal
        matches have equal texts.
        """
        score = [*self.entrants, self.played, *self.halves]
        rest = [
            self.wins,
            self.draws,
            self.points,
            self.clip,
            self.margins.scored,
            self.margins.sums,
            self.margins.clipped,
            [dict(sorted(verdicts.items())) for verdicts in self.verdicts],
        ]
        return SEPARATOR.join(json.dumps(half, separators=(",", ":")) for half in (score, rest))


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


def read(text: str, id: str, tournament: int, round: int, number: int) -> Digest:  # noqa: A002
    """Parse the text of a digest; the other arguments are the values that the text omits."""
    # One call of json.loads for both arrays: there may be a million texts to read.
    values = json.loads(f"[{text.replace(SEPARATOR, ',', 1)}]")
    entrants, played, halves = _score(values[0])
    wins, draws, summed, clip, scored, sums, clipped, verdicts = values[1]
    return Digest(
        id=id,
        tournament=tournament,
        round=round,
        number=number,
        entrants=entrants,
        played=played,
        halves=halves,
        wins=tuple(wins),
        draws=tuple(draws),
        points=tuple(summed),
        clip=clip,
        margins=Margins(scored, tuple(sums), tuple(clipped)),
        verdicts=tuple(verdicts),
    )


def read_score(score: str) -> tuple[tuple[str, ...], int, tuple[int, ...]]:
    """Parse the first part of a digest's text: entrants, number of games, and halves."""
    return _score(json.loads(score))


def _score(values: list[Any]) -> tuple[tuple[str, ...], int, tuple[int, ...]]:
    seats = 2
    while isinstance(values[seats], str):
        seats += 1
    return tuple(values[:seats]), values[seats], tuple(values[seats + 1 :])

"""The table of a tournament: what every entrant has achieved in the closed matches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from arena.ratings import elo
from arena.results import FAULTS, FORFEIT, ClosedGame, ClosedMatch, canonical_order, pairwise

# Ratings and means that agree in so many decimals differ by rounding only and share a rank.
RANK_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table.

    rank: from 1; equal entrants share one and the next rank is left out (1 2 2 4).
    wins, draws, losses: games with the first place alone, shared, and not had.
    points: the sum of the scores of the games that have scores, in the game's own points.
    mean: the mean over the matches of the mean score against the opponents, from 0 to 1;
        None before the first match.
    faults: games ended by each kind of fault, by the verdict's word; kinds that did not occur
        are left out. forfeits: games lost because of faults in earlier ones.
    elo: the Elo rating.
    """

    rank: int
    entrant: str
    matches: int
    games: int
    wins: int
    draws: int
    losses: int
    points: int
    mean: float | None
    faults: dict[str, int]
    forfeits: int
    elo: float

    def to_json(self) -> dict[str, object]:
        """Return the line as plain values which the json module can write."""
        return {
            "rank": self.rank,
            "entrant": self.entrant,
            "matches": self.matches,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "mean": self.mean,
            "faults": dict(self.faults),
            "forfeits": self.forfeits,
            "elo": self.elo,
        }


@dataclass(slots=True)
class _Tally:
    """What is counted of one entrant."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    means: list[float] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)

    def count(self, game: ClosedGame, position: int) -> None:
        self.games += 1
        if game.places[position] == 1:
            if game.places.count(1) == 1:
                self.wins += 1
            else:
                self.draws += 1
        if game.scores is not None:
            self.points += game.scores[position]
        self.verdicts[game.verdicts[position]] += 1


def table(
    matches: Iterable[ClosedMatch],
    settings: elo.EloSettings | None = None,
    entrants: Iterable[str] = (),
) -> tuple[Standing, ...]:
    """Return the standings, the best first: by Elo, then by mean score, then by name.

    `entrants` may name some that have not played yet: they stand at the initial rating.
    The order in which the matches are given does not matter.
    """
    ordered = sorted(matches, key=canonical_order)
    ratings = elo.ratings(ordered, settings, entrants)
    tallies = {name: _Tally() for name in ratings}
    for match in ordered:
        _count(match, tallies)
    means = {name: fmean(tally.means) if tally.means else None for name, tally in tallies.items()}

    def weakness(name: str) -> tuple[float, float]:
        mean = means[name]
        return (
            -round(ratings[name], RANK_DECIMALS),
            1.0 if mean is None else -round(mean, RANK_DECIMALS),
        )

    names = sorted(ratings, key=lambda name: (weakness(name), name))
    order = [weakness(name) for name in names]
    return tuple(
        _standing(1 + order.index(own), name, tallies[name], means[name], ratings[name])
        for own, name in zip(order, names, strict=True)
    )


def _count(match: ClosedMatch, tallies: dict[str, _Tally]) -> None:
    scores = pairwise(match)
    for position, name in enumerate(match.entrants):
        opponents = scores[position][:position] + scores[position][position + 1 :]
        tallies[name].means.append(fmean(opponents))
        for game in match.games:
            tallies[name].count(game, position)


def _standing(rank: int, name: str, tally: _Tally, mean: float | None, rating: float) -> Standing:
    return Standing(
        rank=rank,
        entrant=name,
        matches=len(tally.means),
        games=tally.games,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.games - tally.wins - tally.draws,
        points=tally.points,
        mean=mean,
        faults={word: tally.verdicts[word] for word in FAULTS if tally.verdicts[word]},
        forfeits=tally.verdicts[FORFEIT],
        elo=rating,
    )

"""Summarise the results of a match by entrant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from arena.store.matches.games import PlayedGame
from referee.record import read_games


@dataclass(slots=True)
class EntrantSummary:
    """Results of one entrant in several games. Times are milliseconds."""

    bot: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    faults: int = 0
    times: list[float] = field(default_factory=list)

    @property
    def losses(self) -> int:
        """Games without the first place."""
        return self.games - self.wins - self.draws

    @property
    def median(self) -> float | None:
        """The median time of a decision."""
        return round(median(self.times), 3) if self.times else None

    @property
    def slowest(self) -> float | None:
        """The longest time of a decision."""
        return max(self.times, default=None)

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        return {
            "bot": self.bot,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "decisions": len(self.times),
            "median_ms": self.median,
            "slowest_ms": self.slowest,
            "faults": self.faults,
        }


def summaries(entrants: Sequence[str], games: Iterable[PlayedGame]) -> list[EntrantSummary]:
    """Return the tallies of all entrants, in their order."""
    made = [EntrantSummary(name) for name in entrants]
    by_name = {tally.bot: tally for tally in made}
    for game in games:
        for position, tally in enumerate(made):
            tally.games += 1
            first = game.places[position] == 1
            tally.wins += first and game.places.count(1) == 1
            tally.draws += first and game.places.count(1) > 1
            tally.points += game.scores[position] if game.scores else 0
        for fault in game.faulted:
            by_name[fault.version].faults += 1
        (record,) = read_games(game.record)
        for line in record.actions:
            if line.get("by") != "referee":
                by_name[record.game["seating"][line["seat"]]].times.append(line["ms"])
    return made

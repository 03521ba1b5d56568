"""Summarise a local match by entrant, and show its progress on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from arena.cli import output
from arena.ratings.closed_match import PlayedGame
from arena.ratings.duel import Duel, Interval, elo_difference
from arena.tournaments.time_estimate import duration
from referee.record import read_games
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from arena.matches.local_match import LocalMatch

_TERMINAL_SECONDS: Final = 1.0
_LINE_SECONDS: Final = 10.0


@dataclass(slots=True)
class EntrantSummary:
    """Results of one entrant in several games. Times are milliseconds."""

    bot: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    faults: int = 0
    corrections: int = 0
    defaults: int = 0
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
            "corrections": self.corrections,
            "defaults": self.defaults,
        }


def summaries(entrants: Sequence[str], games: Iterable[PlayedGame]) -> list[EntrantSummary]:
    """Return the tallies of all entrants, in their order."""
    results = [EntrantSummary(name) for name in entrants]
    by_name = {tally.bot: tally for tally in results}
    for game in games:
        for position, tally in enumerate(results):
            tally.games += 1
            tally.wins += game.is_won(position)
            tally.draws += game.is_drawn(position)
            tally.points += game.scores[position] if game.scores else 0
        for fault in game.faulted:
            by_name[fault.version].faults += 1
        (record,) = read_games(game.record)
        for line in record.actions:
            if line.get("by") != "referee":
                tally = by_name[record.game["seating"][line["seat"]]]
                tally.times.append(line["ms"])
                tally.corrections += line.get("corrections", 0)
                tally.defaults += line.get("default", False)
    return results


@dataclass(frozen=True, slots=True)
class MatchProgress:
    """The state of a match that is being played.

    `places` are those of the entrants in each finished game, `seconds` is the time since the match
    began, and `decisions` counts those of the game that is being played.
    """

    entrants: Sequence[str]
    total: int
    places: Sequence[Sequence[int]]
    seconds: float
    decisions: int = 0

    @property
    def scores(self) -> tuple[float, ...]:
        """Of each entrant: 1 for each game won, 0.5 for each game drawn.

        At larger tables, this is the mean over the opponents.
        """
        most = 2 * (len(self.entrants) - 1)
        return tuple(
            sum(_halves(game, position) for game in self.places) / most
            for position in range(len(self.entrants))
        )

    @property
    def elo(self) -> Interval | None:
        """Elo difference of the first entrant to its opponents; None before the first game.

        The interval counts games as independent.
        """
        if not self.places:
            return None
        counts = Counter(_halves(game, 0) for game in self.places)
        most = 2 * (len(self.entrants) - 1)
        scores = tuple(value / most for value in range(most + 1))
        return elo_difference(Duel(scores, tuple(counts[value] for value in range(most + 1))))

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining time; None before the first game."""
        games = len(self.places)
        return self.seconds / games * (self.total - games) if games else None

    @property
    def text(self) -> str:
        """Return the progress as one line."""
        parts = [f"{len(self.places)} of {self.total} games"]
        if self.places:
            pairs = zip(self.entrants, self.scores, strict=True)
            parts.append(", ".join(f"{entrant} {score:.4g}" for entrant, score in pairs))
        # Without any variance, as after one drawn game, the margin of 0 would be wrong.
        elo = self.elo
        if elo is not None and math.isfinite(elo.value) and elo.margin > 0:
            margin = f" ± {elo.margin:.0f}" if math.isfinite(elo.margin) else ""
            parts.append(f"Elo difference {elo.value:+z.0f}{margin}")
        if self.decisions:
            parts.append(f"{self.decisions} decisions in the current game")
        if self.seconds_left is not None:
            parts.append(f"about {duration(self.seconds_left)} left")
        return " · ".join(parts)


def _halves(places: Sequence[int], position: int) -> int:
    """Return the half points of an entrant in a game against all opponents together."""
    place = places[position]
    return sum((place <= other) + (place < other) for other in places) - 1


@contextmanager
def progress_shown(match: LocalMatch) -> Iterator[None]:
    """Show the progress of a match: a status line on a terminal, else a line every 10 s."""
    if not sys.stderr.isatty():
        with repeated(match, output.hint, _LINE_SECONDS):
            yield
        return
    from rich.markup import escape

    with ExitStack() as stack:
        status = stack.enter_context(output.screen(stderr=True).status(""))
        stack.enter_context(
            repeated(match, lambda text: status.update(escape(sanitized(text))), _TERMINAL_SECONDS)
        )
        yield


@contextmanager
def repeated(match: LocalMatch, show: Callable[[str], None], seconds: float) -> Iterator[None]:
    """Call `show` with the progress of a match every `seconds`, on a thread."""
    began, over = time.monotonic(), Event()

    def show_progress() -> None:
        while not over.wait(seconds):
            places = [game.places for game in tuple(match.games)]
            elapsed = time.monotonic() - began
            spec, decisions = match.spec, match.decisions
            show(MatchProgress(spec.versions, spec.games, places, elapsed, decisions).text)

    printer = Thread(target=show_progress, name="progress", daemon=True)
    printer.start()
    try:
        yield
    finally:
        over.set()
        printer.join()

"""Show the progress of a local match on standard error: score, Elo difference, remaining time."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from arena.cli import output
from arena.ratings.duel import Duel, Interval, elo_difference
from arena.tournaments.time_estimate import duration

if TYPE_CHECKING:
    from arena.cli.matches.local_match import LocalMatch

_TERMINAL_SECONDS: Final = 1.0
_LINE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class MatchProgress:
    """The state of a match that is being played.

    Attributes:
        entrants: their versions.
        games: number of finished games.
        total: number of games of the match.
        scores: of each entrant: 1 for each game won, 0.5 for each game drawn; at larger tables the
            mean over the opponents.
        elo: Elo difference of the first entrant to its opponents; None before the first game. The
            interval counts games as independent.
        seconds_left: estimated remaining time; None before the first game.
    """

    entrants: tuple[str, ...]
    games: int
    total: int
    scores: tuple[float, ...]
    elo: Interval | None
    seconds_left: float | None

    @property
    def text(self) -> str:
        """Return the progress as one line."""
        parts = [f"{self.games} of {self.total} games"]
        if self.games:
            pairs = zip(self.entrants, self.scores, strict=True)
            parts.append(", ".join(f"{entrant} {score:.4g}" for entrant, score in pairs))
        if self.elo is not None and math.isfinite(self.elo.value):
            margin = f" ± {self.elo.margin:.0f}" if math.isfinite(self.elo.margin) else ""
            parts.append(f"Elo difference {self.elo.value:+.0f}{margin}")
        if self.seconds_left is not None:
            parts.append(f"about {duration(self.seconds_left)} left")
        return " · ".join(parts)


def match_progress(
    entrants: Sequence[str], total: int, places: Sequence[Sequence[int]], seconds: float
) -> MatchProgress:
    """Return the progress of a match.

    Args:
        entrants: their versions.
        total: number of games of the match.
        places: the places of the entrants in each finished game.
        seconds: time since the match began.
    """
    opponents = len(entrants) - 1
    halves = [[_halves(game, position) for game in places] for position in range(opponents + 1)]
    elo = None
    if places:
        counts = Counter(halves[0])
        possible = range(2 * opponents + 1)
        scores = tuple(value / (2 * opponents) for value in possible)
        elo = elo_difference(Duel(scores, tuple(counts[value] for value in possible)))
    return MatchProgress(
        entrants=tuple(entrants),
        games=len(places),
        total=total,
        scores=tuple(sum(values) / (2 * opponents) for values in halves),
        elo=elo,
        seconds_left=seconds / len(places) * (total - len(places)) if places else None,
    )


def _halves(places: Sequence[int], position: int) -> int:
    """Return the half points of an entrant in a game against all opponents together."""
    place = places[position]
    return sum((place <= other) + (place < other) for other in places) - 1


@contextmanager
def shown(bout: LocalMatch) -> Iterator[None]:
    """Show the progress of a match: a status line on a terminal, else a line every 10 s."""
    if not sys.stderr.isatty():
        with repeated(bout, output.hint, _LINE_SECONDS):
            yield
        return
    from rich.markup import escape

    from referee.sanitizing import sanitized

    with ExitStack() as stack:
        status = stack.enter_context(output.screen(stderr=True).status(""))
        stack.enter_context(
            repeated(bout, lambda text: status.update(escape(sanitized(text))), _TERMINAL_SECONDS)
        )
        yield


@contextmanager
def repeated(bout: LocalMatch, show: Callable[[str], None], seconds: float) -> Iterator[None]:
    """Call `show` with the progress of a match every `seconds`, on a thread."""
    began, over = time.monotonic(), Event()

    def show_progress() -> None:
        while not over.wait(seconds):
            places = [game.places for game in tuple(bout.games)]
            elapsed = time.monotonic() - began
            show(match_progress(bout.spec.versions, bout.spec.games, places, elapsed).text)

    printer = Thread(target=show_progress, name="progress", daemon=True)
    printer.start()
    try:
        yield
    finally:
        over.set()
        printer.join()

"""Show running tournaments: a live table on a terminal, lines of progress elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from arena.cli import output
from arena.cli.ladders import ladder_table
from arena.cli.services.running_services import RunningServices
from arena.formats.contract import WaitForMatches
from arena.ladders import ladder_key, rater
from arena.store.matches import listing
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from arena.tournaments import time_estimate, tournament_outcome
from arena.web.data.time_estimates import TimeEstimator
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.standings import Standings
    from arena.services.queue.worker_list import WorkerList

_POLL_SECONDS = 0.25
_DRAWING_SECONDS = 1.0
_LINES_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TournamentSnapshot:
    """A snapshot of a tournament."""

    tournament: Tournament
    progress: TournamentProgress
    standings: Standings
    coming: int | None = None
    """Expected number of matches, if the format can estimate it."""
    seconds_left: float | None = None
    """Estimate from the rate of committed games."""
    waits: str = ""
    """The reason why nothing is scheduled or played."""

    @property
    def words(self) -> str:
        """The progress as text."""
        of = self.progress.matches if self.coming is None else self.coming
        text = (
            f"{self.tournament.plan.form} {self.progress.closed}/{of} matches, "
            f"{self.progress.games}/{max(self.planned, self.progress.planned)} games"
        )
        if self.waits:
            return f"{text}, waiting: {self.waits}"
        if self.seconds_left is None or self.over:
            return text
        return f"{text}, about {time_estimate.duration(self.seconds_left)} left"

    @property
    def planned(self) -> int:
        """Expected number of games, if the format can estimate it; else the number scheduled."""
        if self.coming is None:
            return self.progress.planned
        return time_estimate.games(self.tournament.plan, self.coming)

    @property
    def over(self) -> bool:
        """Whether nothing more will be played unless the tournament is resumed."""
        state = self.tournament.state
        stopped = state in (TournamentState.PAUSED, TournamentState.CANCELLED)
        return state is TournamentState.CLOSED or (stopped and self.progress.running == 0)


def watch(
    engine: Engine, ids: Sequence[str], services: RunningServices, workers: WorkerList
) -> tuple[TournamentSnapshot, ...]:
    """Show tournaments until they are over; return their last snapshots.

    Raises:
        ServicesEnded: the services of another process have ended.
        Exception: the reason why services of this command ended.
    """
    readers = [SnapshotReader(engine, name, workers) for name in ids]
    lines: _Live | _ProgressLines = _Live() if sys.stderr.isatty() else _ProgressLines()
    with lines as display:
        while True:
            snapshots = tuple(reader.now() for reader in readers)
            for message in services.new_restarts():
                display.print_message(message)
            display.show(snapshots)
            if all(snapshot.over for snapshot in snapshots):
                return snapshots
            time.sleep(_POLL_SECONDS)


class SnapshotReader:
    """Takes snapshots of one tournament; recomputes the standings only after a closed match."""

    def __init__(self, engine: Engine, tournament: str, workers: WorkerList) -> None:
        self._engine = engine
        self._workers = workers
        self._name = tournament
        self._closed = -1
        self._standings: Standings | None = None
        self._estimator = TimeEstimator(engine)
        self._last: TournamentSnapshot | None = None

    def now(self) -> TournamentSnapshot:
        """Return the current snapshot; after the end of the tournament the last one."""
        if self._last is None or not self._last.over:
            self._last = self._read()
        return self._last

    def _read(self) -> TournamentSnapshot:
        # Read the state first, so that a closed tournament comes with its final progress.
        tournament = tournaments.find_tournament(self._engine, self._name)
        progress = tournaments.progress(self._engine, self._name)
        if self._standings is None or progress.closed != self._closed:
            self._closed = progress.closed
            scope = ladder_key.of_tournament(tournament)
            self._standings = rater.current_ladder(self._engine, scope).table
        estimate = self._estimator.estimate(tournament, progress, time.monotonic())
        snapshot = TournamentSnapshot(
            tournament, progress, self._standings, estimate.matches, estimate.seconds_left
        )
        waits = "" if snapshot.over else self._waits(tournament, progress)
        return replace(snapshot, waits=waits)

    def _waits(self, tournament: Tournament, progress: TournamentProgress) -> str:
        if progress.open:
            paused = listing.first_paused(self._engine, tournament.id)
            if paused is not None:
                return f"{paused.id} {listing.waiting_reason(paused)}"
            game = tournament.plan.game
            return self._workers.waiting_reason(self._engine, game, tournament=tournament.id)
        step = tournament_outcome.next_step(self._engine, tournament)
        return step.sentence if isinstance(step, WaitForMatches) else ""


class _ProgressLines:
    """Prints a line every few seconds, and at once after the first game."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._next = self._begin
        self._has_games = False
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, snapshots: Sequence[TournamentSnapshot]) -> None:
        now = time.monotonic()
        has_games = any(snapshot.progress.games for snapshot in snapshots)
        is_first = has_games and not self._has_games
        self._has_games = has_games
        if now < self._next and not is_first and not all(snapshot.over for snapshot in snapshots):
            return
        self._next = now + _LINES_SECONDS
        words = " · ".join(snapshot.words for snapshot in snapshots)
        if words != self._last:
            self._last = words
            output.hint(f"{timedelta(seconds=round(now - self._begin))}  {words}")

    def print_message(self, text: str) -> None:
        output.hint(text)


class _Live:
    """Shows a progress bar and live standings for each tournament."""

    def __init__(self) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            BarColumn(bar_width=32),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
        )
        self._tasks: dict[str, Any] = {}
        # Drawing five tables takes more time of the processor than a house bot's match.
        self._live = Live(
            self._bars, console=output.screen(stderr=True), auto_refresh=False, transient=True
        )
        self._next = 0.0

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, snapshots: Sequence[TournamentSnapshot]) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _DRAWING_SECONDS
            self._draw(snapshots)

    def _draw(self, snapshots: Sequence[TournamentSnapshot]) -> None:
        from rich.console import Group
        from rich.text import Text

        parts: list[Any] = [self._bars]
        for snapshot in snapshots:
            self._bar(snapshot)
            parts.append(Text(f"\n{snapshot.tournament.plan.form}", style="bold"))
            parts.append(output.drawn(*ladder_table.ladder_text(snapshot.standings)))
        self._live.update(Group(*parts), refresh=True)

    def _bar(self, snapshot: TournamentSnapshot) -> None:
        from rich.markup import escape

        progress = snapshot.progress
        fields: dict[str, Any] = {
            "completed": progress.games,
            "total": max(snapshot.planned, progress.planned),
            "words": escape(sanitized(snapshot.words)),
        }
        name = snapshot.tournament.id
        if name not in self._tasks:
            game = snapshot.tournament.plan.form
            self._tasks[name] = self._bars.add_task(game, **fields)
        else:
            self._bars.update(self._tasks[name], **fields)

    def print_message(self, text: str) -> None:
        self._live.console.print(sanitized(text), style="yellow", markup=False)

"""Run tournaments from the first match to the last, handle interruptions, check the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.bots.sandbox import available_levels
from arena.bots.sandbox.level import refusal
from arena.cli import output
from arena.cli.errors import INTERRUPTED, CommandError
from arena.cli.services.running_services import ServicesEnded, at_work, redis_of
from arena.cli.tournaments import live_table
from arena.cli.workspace import Workspace
from arena.errors import Conflict
from arena.services.queue.worker_list import WorkerList
from arena.store.bots import pushed_versions
from arena.store.matches import listing, offline_bot_waits, results
from arena.store.matches.listing import Match
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.system import process_pool
from referee.record import RecordError, read
from referee.replay import verify

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.cli.tournaments.live_table import TournamentSnapshot
    from arena.services.web_process import Pages


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A checked match."""

    match: Match
    seed: bytes | None
    """The seed, revealed when the match was closed."""
    problems: tuple[str, ...]
    """One sentence per problem; empty if the match is closed and its record correct."""


def check_results(engine: Engine, tournaments: Iterable[str]) -> tuple[CheckedMatch, ...]:
    """Check every match of these tournaments.

    Deals are recomputed, actions replayed and scores computed again.
    """
    matches = [m for name in tournaments for m in listing.matches(engine, tournament=name)]
    records = (results.record(engine, m.id) for m in matches)
    verified = process_pool.map_ordered(_verify, records, len(matches))
    return tuple(
        CheckedMatch(match, seed, (*_lost(match), *problems) if match.committed else _lost(match))
        for match, (seed, problems) in zip(matches, verified, strict=True)
    )


def _lost(match: Match) -> tuple[str, ...]:
    if match.state is not MatchState.CLOSED:
        return (f"{match.id} is {match.state.lower()}: {match.reason or 'not played'}",)
    if match.committed != match.games:
        return (f"{match.id} has {match.committed} of {match.games} games",)
    return ()


def _verify(record: str) -> tuple[bytes | None, tuple[str, ...]]:
    try:
        parsed = read(record)
    except RecordError as error:
        return None, (str(error),)
    return parsed.seed, tuple(verify(parsed))


def play_out(
    workspace: Workspace,
    workers: int | None,
    begin: Callable[[], Sequence[str]],
    pages: Callable[[], Pages] | None = None,
) -> tuple[TournamentSnapshot, ...]:
    """Play tournaments to their end, with own services if none run for this folder.

    `begin` is called when the services are running, and returns the ids of the tournaments. `pages`
    creates the web pages of own services.
    """
    names: Sequence[str] = ()
    interrupted: KeyboardInterrupt | SystemExit | None = None
    ours = False
    while interrupted is None:
        with at_work(workspace, workers, pages) as services:
            ours = services.own
            output.hint(services.words)
            if services.page:
                output.hint(f"page  {services.page}")
            try:
                names = names or begin()
                services.nudge()
                _mention_others(workspace, names)
                seen = WorkerList(redis_of(workspace))
                return live_table.watch(workspace.store, names, services, seen)
            except ServicesEnded:
                output.hint("the services have ended; no game is lost")
            except (KeyboardInterrupt, SystemExit) as error:
                interrupted = error
                if ours:
                    output.hint("stopping: current games are finished, no game is lost")
                    _pause(workspace, names)
    if isinstance(interrupted, SystemExit):
        raise interrupted
    raise _stopped(workspace, names, ours)


def _mention_others(workspace: Workspace, names: Sequence[str]) -> None:
    running = tournaments.list_tournaments(workspace.store, state=TournamentState.RUNNING)
    others = [tournament.id for tournament in running if tournament.id not in names]
    for version, matches in offline_bot_waits.waited_for(workspace.store).items():
        counted = "1 match waits" if matches == 1 else f"{matches} matches wait"
        output.hint(f"{counted} for the remote bot {version}, which is not connected")
    _mention_sandbox(workspace, names)
    if others:
        output.hint(f"other open tournaments are played too: {', '.join(others)}")


def _mention_sandbox(workspace: Workspace, names: Sequence[str]) -> None:
    """Print why matches with pushed versions wait, if workers of this machine do not play them."""
    reason = refusal("a pushed bot", trusted=False, level=available_levels.best_level())
    if reason and any(pushed_versions.wait_in(workspace.store, name) for name in names):
        output.hint(f"matches wait: {reason}")


def _pause(workspace: Workspace, names: Sequence[str]) -> None:
    for name in names:
        try:
            lifecycle.pause(workspace.store, name)
        except Conflict:
            continue  # already over


def _stopped(workspace: Workspace, names: Sequence[str], ours: bool) -> CommandError:
    left = [(name, tournaments.progress(workspace.store, name)) for name in names]
    closed, games = sum(p.closed for _, p in left), sum(p.games for _, p in left)
    matches, planned = sum(p.matches for _, p in left), sum(p.planned for _, p in left)
    done = f"{closed} of {matches} matches closed, {games} of {planned} games stored"
    unfinished = [name for name, progress in left if progress.open]
    if not ours:
        advice = f"pokearena tournament show {names[0]}" if names else ""
        return CommandError(
            f"stopped watching; the tournament continues ({done}).", INTERRUPTED, advice
        )
    if not unfinished:
        return CommandError(f"interrupted ({done}).", INTERRUPTED)
    return CommandError(
        f"interrupted: {done}.",
        INTERRUPTED,
        f"pokearena tournament resume {' '.join(unfinished)}",
    )

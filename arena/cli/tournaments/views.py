"""Show tournaments as tables and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from arena.cli import formatting, output
from arena.cli.errors import FAILED, OK
from arena.cli.formatting import count
from arena.cli.ladders import ladder_table
from arena.ladders import ladder_key, ladder_values
from arena.store.matches import listing
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.tournaments import json_values, tournament_outcome

if TYPE_CHECKING:
    from arena.cli.tournaments.live_table import TournamentSnapshot
    from arena.cli.workspace import Workspace
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament

_VOID_SHOWN = 5


def whole(workspace: Workspace, name: str) -> dict[str, Any]:
    """Return a tournament with its standings and matches as JSON values."""
    tournament = tournaments.find(workspace.store, name)
    scope = ladder_key.of_tournament(tournament)
    table = ladder_table.of_tournament(workspace.store, scope)
    return {
        **json_values.tournament(tournament, tournaments.progress(workspace.store, name)),
        "standings": ladder_values.to_json(table),
        "elo": ladder_values.settings_json(),
        "details": ladder_values.details_json(workspace.store, scope, table),
        "timing": ladder_values.timing_json(table),
        "decision": tournament_outcome.to_json(tournament_outcome.of(workspace.store, tournament)),
        "schedule": [
            json_values.match(match) for match in listing.matches(workspace.store, tournament=name)
        ],
    }


def show(workspace: Workspace, name: str) -> None:
    """Print a tournament."""
    tournament = tournaments.find(workspace.store, name)
    progress = tournaments.progress(workspace.store, name)
    plan = tournament.plan
    options = "".join(
        f" · {ladder_key} {str(value).lower()}" for ladder_key, value in plan.options.items()
    )
    settings = "".join(f" · {ladder_key} {value}" for ladder_key, value in plan.settings.items())
    playing = tournament.state is TournamentState.RUNNING and workspace.plays_matches()
    state = formatting.tournament_state(tournament.state, playing)
    output.line(f"{tournament.id} · {plan.name} · {state}")
    output.line(
        f"{plan.game} for {plan.seats}{options} · {count(plan.boards, 'board')} a match · "
        f"{plan.format}{settings} · {plan.policy}"
    )
    output.line(
        f"started {formatting.local_time(tournament.created)}, "
        f"ended {formatting.local_time(tournament.ended)} · "
        f"{progress.closed} of {progress.matches} matches closed, "
        f"{progress.games} of {progress.planned} games stored"
    )
    output.line()
    scope = ladder_key.of_tournament(tournament)
    table = ladder_table.of_tournament(workspace.store, scope)
    step = tournament_outcome.of(workspace.store, tournament)
    for words in [*_entrants(tournament), *tournament_outcome.lines(step)]:
        output.line(words)
    ladder_table.show(table)
    output.line()
    matches = listing.matches(workspace.store, tournament=name)
    drained = tournament_outcome.drained(step)
    output.table(
        ("match", "round", "<bots", "<state", "attempts", "games", "<"),
        [
            (
                match.id,
                match.round,
                " v ".join(match.entrants),
                match.state.lower(),
                match.attempt,
                f"{match.committed}/{match.games}",
                _remark(match, drained),
            )
            for match in matches
        ],
    )
    tell_void(workspace, name)
    ladder_table.remark(table)
    ladder_table.remark_gifts(ladder_values.gifts(workspace.store, scope))
    ladder_table.explain([table])
    what_next(workspace, [name], shown=True)


def _entrants(tournament: Tournament) -> list[str]:
    """Return lines about withdrawn and late entrants and owners, if there are any."""
    facts = {
        "withdrawn": [entry.name for entry in tournament.entries if entry.withdrawn is not None],
        "joined later": [entry.name for entry in tournament.entries if entry.joined],
        "owners": [f"{entry.name} of {entry.owner}" for entry in tournament.entries if entry.owner],
    }
    return [f"{word}: {', '.join(names)}" for word, names in facts.items() if names]


def _remark(match: Match, drained: Collection[tuple[int, int]]) -> str:
    if (match.round, match.number) in drained:
        return "in progress at the decision, not counted for it"
    return match.reason or match.why


def conclude(workspace: Workspace, snapshot: TournamentSnapshot) -> None:
    """Print the final state of a tournament."""
    tournament, progress = snapshot.tournament, snapshot.progress
    plan = tournament.plan
    named = f" · {plan.name}" if plan.name not in (plan.game, "demo") else ""
    state = "" if tournament.state is TournamentState.CLOSED else f" · {tournament.state}"
    output.heading(f"{plan.form} · {tournament.id}{named} · {plan.format}{state}")
    for words in tournament_outcome.lines(tournament_outcome.of(workspace.store, tournament)):
        output.line(words)
    ladder_table.show(snapshot.standings)
    output.line()
    ladder_table.remark(snapshot.standings)
    if progress.closed < progress.matches:
        tell_void(workspace, tournament.id)
        left = progress.matches - progress.closed
        output.hint(f"{left} of {progress.matches} matches have no result")


def tell_void(workspace: Workspace, name: str) -> None:
    """Print warnings about void matches, which the arena failed to play, with the reasons."""
    void = listing.matches(workspace.store, tournament=name, states=[MatchState.VOID])
    for match in void[:_VOID_SHOWN]:
        output.warn(f"{match.id} is void and counts for no bot: {match.reason}")
    if len(void) > _VOID_SHOWN:
        output.warn(
            f"{len(void) - _VOID_SHOWN} more matches are void; `pokearena "
            "tournament show ID` lists all"
        )


def what_next(workspace: Workspace, names: Sequence[str], *, shown: bool = False) -> None:
    """Print the next command after showing tournaments: a replay, or a resumption.

    Args:
        workspace: the data folder and its store.
        names: ids of the tournaments.
        shown: whether `tournament show` was the current command.
    """
    closed: list[Match] = []
    open_ones: list[str] = []
    for name in names:
        closed += listing.matches(
            workspace.store, tournament=name, states=[MatchState.CLOSED], limit=1
        )
        if tournaments.find(workspace.store, name).ended is None:
            open_ones.append(name)
    steps = [f"pokearena replay {match.id}" for match in closed[:1]]
    steps += [f"pokearena tournament show {name}" for name in names[:1] if not (open_ones or shown)]
    if open_ones:
        steps.append(f"pokearena tournament resume {' '.join(open_ones)}")
    output.next_step(*(steps or ["pokearena tournament list"]))


def report(workspace: Workspace, snapshots: Sequence[TournamentSnapshot], as_json: bool) -> int:
    """Print the results of finished tournaments.

    Returns:
        The exit status: OK if all are closed without void matches.
    """
    for snapshot in snapshots:
        if as_json:
            output.document(whole(workspace, snapshot.tournament.id))
        else:
            conclude(workspace, snapshot)
    if not as_json:
        what_next(workspace, [snapshot.tournament.id for snapshot in snapshots])
    done = all(
        snapshot.tournament.state is TournamentState.CLOSED and snapshot.progress.void == 0
        for snapshot in snapshots
    )
    return OK if done else FAILED


def changed(workspace: Workspace, name: str, sentence: str, as_json: bool) -> None:
    """Print the state of a tournament that has just been changed."""
    tournament, progress = (
        tournaments.find(workspace.store, name),
        tournaments.progress(workspace.store, name),
    )
    if as_json:
        output.document(json_values.tournament(tournament, progress))
        return
    output.line(sentence)
    if progress.running and tournament.state in (TournamentState.PAUSED, TournamentState.CANCELLED):
        output.line(f"{progress.running} running matches are finished and still count")

"""Show tournaments and the results of their checks as tables and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from arena.cli import output
from arena.cli.errors import FAILED, OK
from arena.cli.ladders import ladder_table
from arena.cli.output import count
from arena.cli.services import running_services
from arena.cli.workspace import Workspace
from arena.ladders import ladder_key, ladder_values
from arena.records.bundle.audit import Audit
from arena.records.bundle.bundle import Bundle
from arena.services.queue.worker_list import WorkerList
from arena.store.matches import listing
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.tournaments import json_values, tournament_outcome

if TYPE_CHECKING:
    from arena.cli.tournaments.live_table import TournamentSnapshot
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament


_VOID_SHOWN = 5
_MAX_PRINTED_PROBLEMS: Final = 20


def whole(workspace: Workspace, name: str, tag: str | None = None) -> dict[str, Any]:
    """Return a tournament with its standings and matches, or those with a tag, as JSON values."""
    tournament = tournaments.find_tournament(workspace.store, name)
    scope = ladder_key.of_tournament(tournament)
    table = ladder_table.of_tournament(workspace.store, scope)
    return {
        **json_values.tournament(tournament, tournaments.progress(workspace.store, name)),
        **ladder_values.ladder_json(workspace.store, scope, table),
        "decision": tournament_outcome.to_json(
            tournament_outcome.next_step(workspace.store, tournament)
        ),
        "schedule": [
            json_values.match(match)
            for match in listing.matches(workspace.store, tournament=name, tag=tag)
        ],
    }


def show(workspace: Workspace, name: str, tag: str | None = None) -> None:
    """Print a tournament, with all matches or those with a tag."""
    tournament = tournaments.find_tournament(workspace.store, name)
    for words in _heading(workspace, tournament):
        output.line(words)
    output.line()
    scope = ladder_key.of_tournament(tournament)
    table = ladder_table.of_tournament(workspace.store, scope)
    step = tournament_outcome.next_step(workspace.store, tournament)
    for words in [*_entrants(tournament), *tournament_outcome.lines(step)]:
        output.line(words)
    ladder_table.show(table)
    output.line()
    matches = listing.matches(workspace.store, tournament=name, tag=tag)
    _show_matches(matches, tournament_outcome.uncounted_matches(step))
    tell_void(workspace, name)
    tell_waiting(workspace, tournament)
    output.hint(*ladder_values.remarks(table))
    output.hint(*ladder_values.gift_remarks(ladder_values.gifts(workspace.store, scope)))
    ladder_table.explain([table])
    what_next(workspace, [name], shown=True)


def tell_waiting(workspace: Workspace, tournament: Tournament) -> None:
    """Print why matches of a running tournament wait for another worker, if they do."""
    if tournament.state is not TournamentState.RUNNING:
        return
    workers = WorkerList(running_services.redis_of(workspace))
    game, name = tournament.plan.game, tournament.id
    if reason := workers.waiting_reason(workspace.store, game, tournament=name):
        output.hint(reason)


def _heading(workspace: Workspace, tournament: Tournament) -> list[str]:
    """Return lines about the state, the settings and the progress of a tournament."""
    plan = tournament.plan
    progress = tournaments.progress(workspace.store, tournament.id)
    options = "".join(f" · {option} {str(value).lower()}" for option, value in plan.options.items())
    settings = "".join(f" · {setting} {value}" for setting, value in plan.settings.items())
    playing = tournament.state is TournamentState.RUNNING and workspace.plays_matches()
    return [
        f"{tournament.id} · {plan.name} · {output.tournament_state(tournament.state, playing)}",
        f"{plan.game} for {plan.seats}{options} · {count(plan.boards, 'board')} a match · "
        f"{plan.format}{settings} · {plan.faults}",
        f"started {output.local_time(tournament.created)}, "
        f"ended {output.local_time(tournament.ended)} · "
        f"{progress.closed} of {progress.matches} matches closed, "
        f"{progress.games} of {progress.planned} games stored",
    ]


def _show_matches(matches: Sequence[Match], drained: Collection[tuple[int, int]]) -> None:
    """Print the matches; `drained` are the places of those that the decision does not count."""
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


def _entrants(tournament: Tournament) -> list[str]:
    """Return lines about withdrawn and late entrants and owners, if there are any."""
    facts = {
        "withdrawn": [entry.name for entry in tournament.entries if entry.withdrawn is not None],
        "joined later": [entry.name for entry in tournament.entries if entry.joined],
        "owners": [f"{entry.name} of {entry.owner}" for entry in tournament.entries if entry.owner],
    }
    return [f"{word}: {', '.join(names)}" for word, names in facts.items() if names]


def _remark(match: Match, drained: Collection[tuple[int, int]]) -> str:
    if match.place in drained:
        return "in progress at the decision, not counted for it"
    return listing.waiting_reason(match) or match.reason or match.why


def conclude(workspace: Workspace, snapshot: TournamentSnapshot) -> None:
    """Print the final state of a tournament."""
    tournament, progress = snapshot.tournament, snapshot.progress
    plan = tournament.plan
    named = f" · {plan.name}" if plan.name not in (plan.game, "demo") else ""
    state = "" if tournament.state is TournamentState.CLOSED else f" · {tournament.state}"
    output.heading(f"{plan.form} · {tournament.id}{named} · {plan.format}{state}")
    for words in tournament_outcome.lines(
        tournament_outcome.next_step(workspace.store, tournament)
    ):
        output.line(words)
    ladder_table.show(snapshot.standings)
    output.line()
    output.hint(*ladder_values.remarks(snapshot.standings))
    if progress.closed < progress.matches:
        tell_void(workspace, tournament.id)
        left = progress.matches - progress.closed
        output.hint(f"{left} of {progress.matches} matches have no result")


def tell_void(workspace: Workspace, name: str) -> None:
    """Print warnings about void matches, with the reasons."""
    void = listing.matches(workspace.store, tournament=name, states=[MatchState.VOID])
    for match in void[:_VOID_SHOWN]:
        counts = "not rated" if match.forfeited_by else "void and counts for no bot"
        output.warn(f"{match.id} is {counts}: {match.reason}")
    if len(void) > _VOID_SHOWN:
        output.warn(
            f"{len(void) - _VOID_SHOWN} more matches are void; `pokearena "
            "tournament show ID` lists all"
        )


def what_next(workspace: Workspace, names: Sequence[str], *, shown: bool = False) -> None:
    """Print the next command after showing tournaments: a replay, or a resumption.

    `shown` is whether `tournament show` was the current command.
    """
    closed: list[Match] = []
    open_ones: list[Tournament] = []
    for name in names:
        closed += listing.matches(
            workspace.store, tournament=name, states=[MatchState.CLOSED], limit=1
        )
        tournament = tournaments.find_tournament(workspace.store, name)
        if tournament.ended is None:
            open_ones.append(tournament)
    steps = [f"pokearena replay {match.id}" for match in closed[:1]]
    steps += [f"pokearena tournament show {name}" for name in names[:1] if not (open_ones or shown)]
    # Services that play matches need no command for a tournament that is not paused.
    is_played = bool(open_ones) and workspace.plays_matches()
    waiting = [
        each.id for each in open_ones if not is_played or each.state is TournamentState.PAUSED
    ]
    if waiting:
        steps.append(f"pokearena tournament resume {' '.join(waiting)}")
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
    tournament = tournaments.find_tournament(workspace.store, name)
    progress = tournaments.progress(workspace.store, name)
    if as_json:
        output.document(json_values.tournament(tournament, progress))
        return
    output.line(sentence)
    if progress.running and tournament.state in (TournamentState.PAUSED, TournamentState.CANCELLED):
        output.line(f"{progress.running} running matches are finished and still count")


def show_audit(bundle: Bundle, audit: Audit, earlier: Bundle | None = None) -> None:
    """Print the checked facts with counts, or one problem per line.

    `earlier` is the bundle with which it was compared.
    """
    tournament = bundle.tournament
    output.heading(
        f"{tournament.id} · {tournament.plan.name} · {tournament.plan.game} · {tournament.state}"
    )
    for problem in audit.problems[:_MAX_PRINTED_PROBLEMS]:
        output.line(f"{tournament.id}: {problem}")
    if len(audit.problems) > _MAX_PRINTED_PROBLEMS:
        output.line(f"and {len(audit.problems) - _MAX_PRINTED_PROBLEMS} more; --json lists them")
    if not audit.problems:
        for line in _checked(bundle, audit):
            output.line(line)
        if earlier is not None:
            output.line(
                f"earlier    the {len(earlier.matches)} matches of the earlier bundle are unchanged"
            )
        output.line(f"{tournament.id} verifies")


def _checked(bundle: Bundle, audit: Audit) -> Iterator[str]:
    tournament, states = bundle.tournament, audit.matches
    total = states.total()
    parts = ", ".join(f"{states[state]} {state.lower()}" for state in MatchState if states[state])
    yield f"schedule   {total} matches{f': {parts}' if parts else ''}"
    for reason, times in audit.reasons.most_common():
        yield f"           {times} without a result: {reason.rstrip('.')}"
    drained = f"; {audit.drained} in progress at the decision" if audit.drained else ""
    if audit.pairing_checked:
        yield (
            f"format     {tournament.plan.format} run again in {audit.steps} steps gives the same "
            f"pairings{drained}"
        )
    else:
        yield "format     the pairings are of an older version and are not computed again"
    yield "names      the id of every match follows from the hash of its settings"
    yield (
        f"records    one for each closed match: {audit.games} games dealt again, "
        f"{audit.actions} actions replayed, all scores computed again"
    )
    yield f"seeds      {audit.seeds} revealed, each matches its commitment"
    if audit.seeded is not None:
        yield f"           {audit.seeded} follow from the tournament's seed"
    yield "standings  identical when computed again from the records"
    yield "unchecked  decision times, notes and names (docs/reference/bundle.md)"


def audit_json(bundle: Bundle, audit: Audit) -> dict[str, Any]:
    """Return the result as JSON values."""
    return {
        "tournament": bundle.tournament.id,
        "verified": not audit.problems,
        "state": str(bundle.tournament.state),
        "matches": {state.lower(): audit.matches[state] for state in MatchState},
        "without_result": dict(audit.reasons),
        "games": audit.games,
        "actions": audit.actions,
        "seeds": audit.seeds,
        "seeds_from_tournament": audit.seeded,
        "steps": audit.steps,
        "drained": audit.drained,
        "pairing_checked": audit.pairing_checked,
        "problems": list(audit.problems),
    }

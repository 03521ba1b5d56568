"""Resolve the bots of a requested tournament, and preview or join tournaments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli import game_options, lookup, output
from arena.cli.bots import registration
from arena.cli.errors import CommandError
from arena.cli.output import count
from arena.cli.workspace import Workspace
from arena.formats.contract import FormatEntrant
from arena.store.tournaments import lifecycle, tournaments
from arena.system.process_info import cores
from arena.tournaments import schedule_preview, scheduler, time_estimate, tournament_request
from referee.games.registry import find_game

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.tournaments.schedule_preview import SchedulePreview
    from arena.tournaments.tournament_request import NamedBot, TournamentRequest

_MAX_PRINTED_MATCHES = 40


def resolved(
    workspace: Workspace, request: TournamentRequest, file: Path | None
) -> list[tuple[Bot, str]]:
    """Return the bots with their owners. Stores nothing."""
    return [(_bot(workspace, request, bot, file), bot.owner or "") for bot in request.entrants]


def _bot(
    workspace: Workspace, request: TournamentRequest, named: NamedBot, file: Path | None
) -> Bot:
    try:
        bot = workspace.bot(named.bot)
        game_options.check_plays(bot, request.rules)
    except CommandError as error:
        line = tournament_request.line_of(file, named) if file else None
        place = f"{file}: " * (file is not None) + f"line {line}: " * (line is not None)
        raise CommandError(f"{place}{error}", error.status, error.advice, code=error.code) from None
    return bot


def registered(
    workspace: Workspace, bots: Sequence[tuple[Bot, str]]
) -> tuple[list[str], Mapping[str, str]]:
    """Register these bots; return their versions, and the owners by version."""
    versions = [registration.register(workspace, bot).id for bot, _ in bots]
    owners = {name: owner for name, (_, owner) in zip(versions, bots, strict=True) if owner}
    return versions, owners


def preview(
    workspace: Workspace,
    plan: TournamentRequest,
    file: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Print the matches that would be played, and their estimated duration."""
    bots = resolved(workspace, plan, file)
    entrants = [FormatEntrant(bot.label, owner) for bot, owner in bots]
    at_once = workers or cores()
    store = workspace.store if workspace.has_store else None
    schedule = schedule_preview.preview(store, plan, entrants, at_once)
    if as_json:
        output.document(schedule.to_json())
        return
    first = schedule.first
    settings = "".join(f" · {name} {value}" for name, value in plan.settings.items())
    output.line(f"{plan.name} · {plan.form} · {plan.format}{settings} · {plan.faults}")
    output.line(f"{len(entrants)} bots · {count(plan.boards, 'board')} a match")
    output.line()
    output.table(
        ("round", "match", "<bots", "<why"),
        [(f.round, f.number, " v ".join(f.entrants), f.why) for f in first[:_MAX_PRINTED_MATCHES]],
    )
    if len(first) > _MAX_PRINTED_MATCHES:
        output.line(f"… and {len(first) - _MAX_PRINTED_MATCHES} more")
    output.line()
    for line in [*_words(schedule, at_once), *_forecast(schedule)]:
        output.line(line)
    if file is not None:
        output.next_step(f"pokearena tournament run {file}")


def _words(schedule: SchedulePreview, at_once: int) -> list[str]:
    plan, first = schedule.plan, schedule.first
    total, seconds = schedule.matches, schedule.seconds
    if total is None or seconds is None:
        end = "stopped" if plan.format == "ladder" else "the verdict"
        begins = f"first {count(len(first), 'match', 'matches')}"
        return [f"runs until {end}, or to `--set limit=N` matches; {begins}"]
    word = "" if plan.format in time_estimate.EXACT else "about "
    if plan.format in time_estimate.ENDLESS:
        word = "at most "
    rest = "" if len(first) == total else f", {len(first)} of them already determined"
    source = (
        f"measured over the last {schedule.measured} matches of this form"
        if schedule.measured
        else "estimated from the house bots: no match of this form has been played"
    )
    return [
        f"{word}{count(total, 'match', 'matches')}{rest}, {schedule.games} games",
        f"about {time_estimate.duration(seconds)} with {at_once} at a time ({source})",
    ]


def _forecast(schedule: SchedulePreview) -> list[str]:
    forecast = schedule.sprt
    if forecast is None:
        return []
    source = (
        f"measured over {forecast.measured} boards of both bots"
        if forecast.measured
        else "an upper estimate: independent games without draws"
    )
    return [
        f"expected until the verdict: {forecast.low} matches if the difference is low, "
        f"{forecast.high} if it is high, {forecast.middle} halfway ({source})"
    ]


def join(
    workspace: Workspace, tournament: str, bots: Sequence[str], owner: str
) -> tuple[str, Sequence[str]]:
    """Add bots to a tournament; return its id and their versions.

    Propagates the errors of `lifecycle.add`.
    """
    name = lookup.tournament_id_of(workspace, tournament)
    scheduler.check_open(tournaments.find_tournament(workspace.store, name))
    game = find_game(tournaments.find_tournament(workspace.store, name).plan.game)
    resolved = [workspace.bot(text) for text in bots]
    for entrant in resolved:
        game_options.check_plays(entrant, game)
    versions, owners = registered(workspace, [(bot, owner) for bot in resolved])
    entries = scheduler.enrol(workspace.store, versions, owners)
    with workspace.audited("tournament.add", name, bots="\n".join(versions)):
        lifecycle.add_entrants(workspace.store, name, entries)
    return name, versions

"""Convert a tournament file or flags into a plan, and preview or join tournaments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.cli import game_options, lookup, output
from arena.cli.bots import registration
from arena.cli.errors import USAGE, CommandError
from arena.cli.options import unknown
from arena.cli.output import count
from arena.cli.tournaments import running
from arena.errors import BadName, OutOfRange, check_name
from arena.formats.contract import Fixture, FormatEntrant
from arena.formats.registry import CLOSED as CLOSED_FORMATS
from arena.formats.registry import FORMATS, settings_of
from arena.store.matches.spec import TournamentPlan
from arena.store.tournaments import lifecycle, tournaments
from arena.system.process_info import cores
from arena.tournaments import json_values, scheduler, time_estimate
from referee.games.contract import SetupError

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.cli.workspace import Workspace
    from arena.tournaments.tournament_file import TournamentSpec

_SHOWN = 40


def prepare(
    workspace: Workspace, spec: TournamentSpec
) -> tuple[TournamentPlan, list[tuple[Bot, str]]]:
    """Return the plan, and the bots with their owners. Stores nothing.

    Raises:
        CommandError: it cannot be played; the sentence names the file, if any.
    """
    where = f"{spec.file}: " if spec.file else ""
    try:
        return _prepared(workspace, spec)
    except CommandError as error:
        raise CommandError(f"{where}{error}", error.status, error.advice, code=error.code) from None
    except (BadName, OutOfRange, SetupError) as error:
        raise CommandError(f"{where}{error}", USAGE, code=error.code) from None


def _prepared(
    workspace: Workspace, spec: TournamentSpec
) -> tuple[TournamentPlan, list[tuple[Bot, str]]]:
    rules = game_options.game_named(spec.game)
    options = game_options.settled_options(rules, spec.options)
    if spec.faults not in ("lenient", "unforgiving"):
        raise CommandError(f"faults are lenient or unforgiving, not {spec.faults!r}.", USAGE)
    number = len(spec.bots)
    if spec.name:
        check_name("a tournament", spec.name)
    for owner in {owner for _, owner in spec.bots if owner}:
        check_name("an owner", owner)
    plan = TournamentPlan(
        name=spec.name or rules.id,
        game=rules.id,
        options=options,
        seats=game_options.usual_seats(rules, options, number)
        if spec.seats is None
        else spec.seats,
        boards=spec.boards,
        format=spec.format,
        settings=settled(spec.format, spec.settings),
        clock=spec.clock,
        policy=spec.faults,
    )
    tournaments.check_plan(plan)
    running.check(plan, number)
    entrants = [(workspace.bot(text), owner) for text, owner in spec.bots]
    for bot, _ in entrants:
        game_options.check_plays(bot, rules)
    return plan, entrants


def registered(
    workspace: Workspace, bots: Sequence[tuple[Bot, str]]
) -> tuple[list[str], Mapping[str, str]]:
    """Register these bots; return their versions, and the owners by version."""
    versions = [registration.register(workspace, bot).id for bot, _ in bots]
    owners = {name: owner for name, (_, owner) in zip(versions, bots, strict=True) if owner}
    return versions, owners


def pairs(texts: Sequence[str], what: str) -> dict[str, str]:
    """Return the settings in texts such as "rounds=5"."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"{what} {name} needs a value; write {name}=VALUE.", USAGE)
        settings[name] = value
    return settings


def settled(format_name: str, settings: Mapping[str, Any]) -> dict[str, bool | int | float]:
    """Convert a format's settings to their types; parse those given as text.

    Raises:
        CommandError: the format or a setting is unknown, or a value is not valid.
    """
    if format_name not in FORMATS:
        raise unknown("format", format_name, list(FORMATS))
    known = settings_of(format_name)
    for name in settings:
        if name not in known:
            raise unknown(f"setting of {format_name}", name, list(known))
    return {name: _setting(name, value, known[name]) for name, value in settings.items()}


def _setting(name: str, value: Any, kind: type) -> bool | int | float:
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]  # the format checks it
    parsers: dict[type, Callable[[str], bool | int | float]] = {
        bool: lambda text: {"true": True, "false": False}[text],
        int: int,
        float: float,
    }
    try:
        return parsers[kind](value)
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise CommandError(f'"{name}" must be {expected}, not {value!r}.', USAGE) from None


def preview(workspace: Workspace, spec: TournamentSpec, workers: int | None, as_json: bool) -> None:
    """Print the matches that would be played, and their estimated duration."""
    plan, bots = prepare(workspace, spec)
    entrants = [FormatEntrant(bot.label, owner) for bot, owner in bots]
    first = running.opening(plan, entrants)
    total = time_estimate.matches(plan, entrants)
    at_once = workers or cores()
    pace, known = time_estimate.seconds_per_game(
        workspace.store if workspace.has_store else None, plan
    )
    seconds = None if total is None else time_estimate.games(plan, total) * pace / at_once
    if as_json:
        output.document(_as_json(plan, entrants, first, total, seconds, known))
        return
    settings = "".join(f" · {name} {value}" for name, value in plan.settings.items())
    output.line(f"{plan.name} · {plan.form} · {plan.format}{settings} · {plan.policy}")
    output.line(f"{len(entrants)} bots · {count(plan.boards, 'board')} a match")
    output.line()
    output.table(
        ("round", "match", "<bots", "<why"),
        [(f.round, f.number, " v ".join(f.entrants), f.why) for f in first[:_SHOWN]],
    )
    if len(first) > _SHOWN:
        output.line(f"… and {len(first) - _SHOWN} more")
    output.line()
    for line in _words(plan, first, total, seconds, at_once, known):
        output.line(line)
    if spec.file:
        output.next_step(f"pokearena tournament run {spec.file}")


def _words(
    plan: TournamentPlan,
    first: Sequence[Fixture],
    total: int | None,
    seconds: float | None,
    at_once: int,
    known: int,
) -> list[str]:
    if total is None or seconds is None:
        end = "stopped" if plan.format == "ladder" else "the verdict"
        begins = f"first {count(len(first), 'match', 'matches')}"
        return [f"runs until {end}, or to `--set limit=N` matches; {begins}"]
    word = "" if plan.format in time_estimate.EXACT else "about "
    if plan.format in time_estimate.ENDLESS:
        word = "at most "
    rest = "" if len(first) == total else f", {len(first)} of them already determined"
    source = (
        f"measured over the last {known} matches of this form"
        if known
        else "estimated from the house bots: no match of this form has been played"
    )
    return [
        f"{word}{count(total, 'match', 'matches')}{rest}, {time_estimate.games(plan, total)} games",
        f"about {time_estimate.duration(seconds)} with {at_once} at a time ({source})",
    ]


def _as_json(
    plan: TournamentPlan,
    entrants: Sequence[FormatEntrant],
    first: Sequence[Fixture],
    total: int | None,
    seconds: float | None,
    known: int,
) -> dict[str, Any]:
    return {
        **json_values.plan(plan),
        "entrants": [{"bot": entrant.name, "owner": entrant.owner} for entrant in entrants],
        "schedule": [
            {"round": f.round, "number": f.number, "entrants": list(f.entrants), "why": f.why}
            for f in first
        ],
        "matches": total,
        "games": None if total is None else time_estimate.games(plan, total),
        "seconds": None if seconds is None else round(seconds, 1),
        "pace_from_matches": known,
    }


def join(
    workspace: Workspace, tournament: str, bots: Sequence[str], owner: str
) -> tuple[str, Sequence[str]]:
    """Add bots to a tournament; return its id and their versions.

    Propagates the errors of `lifecycle.add`.

    Raises:
        CommandError: its format does not accept new entrants.
    """
    name = lookup.find_tournament(workspace, tournament)
    plan = tournaments.find(workspace.store, name).plan
    if plan.format in CLOSED_FORMATS:
        raise CommandError(
            f"{name} is a {plan.format}, which does not accept later entrants.",
            USAGE,
            code="closed-format",
        )
    resolved = [workspace.bot(text) for text in bots]
    for entrant in resolved:
        game_options.check_plays(entrant, game_options.game_named(plan.game))
    versions, owners = registered(workspace, [(bot, owner) for bot in resolved])
    lifecycle.add(workspace.store, name, scheduler.enrol(workspace.store, versions, owners))
    return name, versions

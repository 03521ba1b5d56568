"""Create and manage tournaments, with the validation and the preview of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine

from arena.errors import InvalidSettings, NotFound
from arena.formats.contract import FormatEntrant
from arena.formats.registry import FORMATS
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.matches.spec import Clock, TournamentPlan
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.system.process_info import cores
from arena.tournaments import game_settings, json_values, scheduler, tournament_plan
from arena.tournaments.tournament_file import NamedBot, TournamentSpec
from arena.web.management.action import REASON, Action, ActionRequest, ActionResult, InputField
from referee.games.registry import GAMES

_CLOCK: Final = Clock()
FIELDS: Final = (
    InputField("game", "the card game", required=True, choices=tuple(GAMES), example="poke"),
    InputField(
        "bots",
        "registered bots, one per line: NAME (newest version) or NAME@VERSION, the best first",
        "lines",
        required=True,
        example="greedy",
    ),
    InputField("name", "name of the tournament; empty: the game"),
    InputField(
        "format",
        "how bots are paired; /docs/formats describes each",
        choices=tuple(FORMATS),
        example="round-robin",
    ),
    InputField(
        "settings", "settings of the format (see /docs/formats), one NAME=VALUE per line", "pairs"
    ),
    InputField("options", "options of the game (see its rules), one NAME=VALUE per line", "pairs"),
    InputField("seats", "number of seats; empty: the first that the bots can fill", "number"),
    InputField("boards", "boards per match", "number", example="10"),
    InputField("seed", "seed of all cards; empty: random"),
    InputField(
        "faults",
        "fault after which a bot forfeits the rest of its table: the third or the first",
        choices=("lenient", "unforgiving"),
        example="lenient",
    ),
    InputField("start_ms", "time to start, in ms", "number", example=str(_CLOCK.start_ms)),
    InputField("allowance_ms", "time per decision, ms", "number", example=str(_CLOCK.allowance_ms)),
    InputField("bank_ms", "time bank per table, in ms", "number", example=str(_CLOCK.bank_ms)),
    InputField("paused", "create it paused, and start it later", "checkbox"),
)
_OPTIONAL_REASON: Final = InputField("reason", "reason for the audit log")


@dataclass(frozen=True, slots=True)
class _NewTournament:
    plan: TournamentPlan
    entrants: list[FormatEntrant]
    seed: bytes | None


def _checked_settings(request: ActionRequest) -> _NewTournament:
    """Return the checked settings of a new tournament."""
    engine = request.web.engine
    bots = [_registered(engine, text) for text in request.lines("bots")]
    spec = _spec(request, bots)
    plan = tournament_plan.plan_of(spec)
    for bot in bots:
        tournament_plan.check_plays(bot.id, bot.manifest.get("games"), plan.game)
    entrants = scheduler.enrol(engine, [bot.id for bot in bots])
    seed = None if spec.seed is None else game_settings.seed_of(spec.seed)
    return _NewTournament(plan, entrants, seed)


def _spec(request: ActionRequest, bots: list[Version]) -> TournamentSpec:
    values: dict[str, Any] = {
        "bots": tuple(NamedBot(bot.id) for bot in bots),
        "settings": _pairs(request, "settings"),
        "options": _pairs(request, "options"),
    }
    for name in ("name", "format", "seed", "faults"):
        if text := request.text(name):
            values[name] = text
    for name in ("seats", "boards", "start_ms", "allowance_ms", "bank_ms"):
        number = request.number(name)
        if number is not None:
            values[name] = number
    return TournamentSpec(game=request.text("game")).updated(values)


def _pairs(request: ActionRequest, name: str) -> dict[str, Any]:
    value = request.values.get(name)
    if isinstance(value, dict):
        if not all(isinstance(item, str | int | float | bool) for item in value.values()):
            raise InvalidSettings(f'the values of "{name}" must be strings, numbers or booleans.')
        return {str(key): item for key, item in value.items()}
    return dict(tournament_plan.pairs(request.lines(name), name))


def _registered(engine: Engine, text: str) -> Version:
    """Return a registered version: NAME@VERSION, or the newest active one of NAME."""
    if "@" in text:
        return versions.find(engine, text)
    active = versions.listing(engine, name=text)
    if not active:
        raise NotFound(f"unknown bot {text[:60]}.", code="unknown-version")
    return active[-1]


def _preview(request: ActionRequest) -> ActionResult:
    new = _checked_settings(request)
    shown = tournament_plan.preview(request.web.engine, new.plan, new.entrants, cores())
    return ActionResult(
        shown.to_json(),
        template="management/preview.html",
        model={"preview": shown, "sent": request.values, "create": CREATE},
    )


def _create(request: ActionRequest) -> ActionResult:
    new = _checked_settings(request)
    created = tournament_plan.begin(
        request.web.engine,
        new.plan,
        new.entrants,
        new.seed,
        paused=request.flag("paused"),
    )
    return _result(request, created)


def _state_change(
    change: Callable[[Engine, str], Tournament],
) -> Callable[[ActionRequest], ActionResult]:
    """Return the function of an action that calls `change` with the tournament's id."""

    def run(request: ActionRequest) -> ActionResult:
        return _result(request, change(request.web.engine, request.path["id"]))

    return run


def _add(request: ActionRequest) -> ActionResult:
    engine, name = request.web.engine, request.path["id"]
    tournament = tournaments.find(engine, name)
    tournament_plan.check_open(tournament)
    bots = [_registered(engine, text) for text in request.lines("bots")]
    for bot in bots:
        tournament_plan.check_plays(bot.id, bot.manifest.get("games"), tournament.plan.game)
    entries = scheduler.enrol(engine, [bot.id for bot in bots])
    return _result(request, lifecycle.add(engine, name, entries))


def _withdraw(request: ActionRequest) -> ActionResult:
    name, version = request.path["id"], request.text("version")
    reason = request.text("reason")
    return _result(request, lifecycle.withdraw(request.web.engine, name, version, reason))


def _result(request: ActionRequest, tournament: Tournament) -> ActionResult:
    progress = tournaments.progress(request.web.engine, tournament.id)
    return ActionResult(
        json_values.tournament(tournament, progress), f"/organiser/tournaments/{tournament.id}"
    )


CREATE: Final = Action(
    "/organiser/tournaments",
    "tournament.create",
    "Create the tournament",
    "Creates a tournament of registered bots.",
    _create,
    FIELDS,
    created=True,
    form="/organiser/tournaments/new",
)
PREVIEW: Final = Action(
    "/organiser/tournaments/preview",
    "tournament.preview",
    "Preview the schedule",
    "Checks the settings of a tournament and returns its schedule, without creating it.",
    _preview,
    FIELDS,
    audited=False,
    form="/organiser/tournaments/new",
)
START: Final = Action(
    "/organiser/tournaments/{id}/start",
    "tournament.start",
    "Start",
    "Starts or continues a paused tournament.",
    _state_change(lifecycle.resume),
    (_OPTIONAL_REASON,),
)
PAUSE: Final = Action(
    "/organiser/tournaments/{id}/pause",
    "tournament.pause",
    "Pause",
    "Starts no further match of a tournament; running matches are finished.",
    _state_change(lifecycle.pause),
    (_OPTIONAL_REASON,),
)
CANCEL: Final = Action(
    "/organiser/tournaments/{id}/cancel",
    "tournament.cancel",
    "Cancel the tournament",
    "Cancels a tournament and its pending matches; closed and running matches count.",
    _state_change(lifecycle.cancel),
    (REASON,),
)
ADD: Final = Action(
    "/organiser/tournaments/{id}/add",
    "tournament.add",
    "Add bots",
    "Adds registered bots to an open tournament; they are paired from the next round.",
    _add,
    (
        InputField(
            "bots", "bots, one per line: NAME or NAME@VERSION", "lines", True, example="greedy"
        ),
        _OPTIONAL_REASON,
    ),
)
WITHDRAW: Final = Action(
    "/organiser/tournaments/{id}/withdraw",
    "tournament.withdraw",
    "Withdraw",
    "Withdraws a bot: running matches are finished, its pending matches are cancelled.",
    _withdraw,
    (
        InputField("version", "the bot as NAME@VERSION", required=True, example="greedy@1"),
        InputField("reason", "reason, shown with the cancelled matches", required=True),
    ),
)
ACTIONS: Final = (CREATE, PREVIEW, START, PAUSE, CANCEL, ADD, WITHDRAW)

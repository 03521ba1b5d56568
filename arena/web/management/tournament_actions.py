"""Create and manage tournaments, with the validation and the preview of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from sqlalchemy import Engine

from arena.config import ALLOWANCE_MS, BANK_MS, BOARDS, CORRECTIONS, SEATS, START_MS, Bounds
from arena.errors import NotFound, nearest
from arena.formats.registry import FORMATS
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.match_settings import Clock
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.system.process_info import cores
from arena.tournaments import json_values, schedule_preview, scheduler
from arena.tournaments.tournament_request import TournamentRequest, check_plays, pairs, request_of
from arena.web.management import consequences
from arena.web.management.action import REASON, Action, ActionRequest, ActionResult, InputField
from arena.web.management.tournament_form import tournament_form
from referee.games.game_packages import EXAMPLE_GAME
from referee.games.registry import GAMES

_CLOCK: Final = tuple(each.name for each in fields(Clock))


def _clock(name: str, summary: str, bounds: Bounds, label: str) -> InputField:
    """Return the input of a time limit."""
    return InputField(
        name, summary, "seconds", example=str(bounds.usual), label=label, bounds=bounds
    )


FIELDS: Final = (
    InputField("game", "the card game", required=True, choices=tuple(GAMES), example=EXAMPLE_GAME),
    InputField(
        "bots",
        "registered bots, one per line: NAME (newest version) or NAME@VERSION, the best first",
        "lines",
        required=True,
        example="greedy",
    ),
    InputField("name", "name of the tournament; empty: the game", label="Name"),
    InputField(
        "preset",
        "defaults of boards, clock and corrections for slow bots or language models; empty: those "
        "of fast bots",
        example="",
    ),
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
    InputField(
        "seats",
        "number of seats; empty: the first that the bots can fill",
        "number",
        bounds=SEATS,
    ),
    InputField(
        "boards",
        "boards per match",
        "number",
        example=str(BOARDS.usual),
        label="Boards per match",
        bounds=BOARDS,
    ),
    InputField("seed", "seed of all cards; empty: random", label="Seed"),
    InputField(
        "faults",
        "fault after which a bot forfeits the rest of its table: the third or the first",
        choices=("lenient", "unforgiving"),
        example="lenient",
        label="Faults",
    ),
    InputField(
        "corrections",
        "corrections of an illegal or unreadable answer per question, within the same clock",
        "number",
        example=str(CORRECTIONS.usual),
        label="Corrections",
        bounds=CORRECTIONS,
    ),
    _clock("start_ms", "time to start, in ms", START_MS, "Time to start, in seconds"),
    _clock("allowance_ms", "time per decision, ms", ALLOWANCE_MS, "Time per decision, in seconds"),
    _clock("bank_ms", "time bank per table, in ms", BANK_MS, "Time bank per table, in seconds"),
    InputField("paused", "create it paused, and start it later", "checkbox", label="Paused"),
)
NEW: Final = "/organiser/tournaments/new"
CONTROLS: Final = "/organiser/tournaments/{id}"
_OPTIONAL_REASON: Final = InputField("reason", "reason for the audit log")


def _requested(request: ActionRequest) -> tuple[TournamentRequest, list[str]]:
    """Return the checked settings of a new tournament, and its versions."""
    engine = request.web.engine
    bots = [_registered(engine, text) for text in request.lines("bots")]
    entrants = [bot.id for bot in bots]
    plan = request_of(_values(request) | {"bots": entrants})
    for bot in bots:
        check_plays(bot, plan.game)
    return plan, entrants


def _values(request: ActionRequest) -> dict[str, Any]:
    """Return the sent values, named as in a tournament file."""
    values: dict[str, Any] = {"clock": {}}
    for each in FIELDS:
        place = values["clock"] if each.name in _CLOCK else values
        if each.kind == "text" and (text := request.text(each.name)):
            place[each.name] = text
        elif (
            each.kind in ("number", "seconds") and (number := request.number(each.name)) is not None
        ):
            place[each.name] = number
        elif each.kind == "pairs":
            sent = request.values.get(each.name)
            is_table = isinstance(sent, dict)
            place[each.name] = sent if is_table else pairs(request.lines(each.name), each.name)
    return values


def _registered(engine: Engine, text: str) -> Version:
    """Return a registered version: NAME@VERSION, or the newest active one of NAME."""
    if "@" in text:
        return consequences.find_version(engine, text)
    active = versions.list_versions(engine, name=text)
    if not active:
        names = {version.name for version in versions.list_versions(engine)}
        hint = nearest(text, names) or "."
        raise NotFound(f"unknown bot {text[:60]}{hint}", code="unknown-version")
    return active[-1]


def _preview(request: ActionRequest) -> ActionResult:
    engine = request.web.engine
    plan, entrants = _requested(request)
    shown = schedule_preview.preview(engine, plan, scheduler.enrol(engine, entrants), cores())
    draft = tournament_form(request.web, FIELDS, request.sent, shown)
    return ActionResult(
        shown.to_json(),
        template="management/new_tournament.html",
        model={"draft": draft, "create": CREATE, "preview_action": PREVIEW},
    )


def _create(request: ActionRequest) -> ActionResult:
    plan, entrants = _requested(request)
    created = scheduler.begin(
        request.web.engine, plan, entrants, plan.secret, paused=request.flag("paused")
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
    tournament = tournaments.find_tournament(engine, name)
    scheduler.check_open(tournament)
    bots = [_registered(engine, text) for text in request.lines("bots")]
    for bot in bots:
        check_plays(bot, tournament.plan.game)
    entries = scheduler.enrol(engine, [bot.id for bot in bots])
    return _result(request, lifecycle.add_entrants(engine, name, entries))


def _withdraw(request: ActionRequest) -> ActionResult:
    name, version = request.path["id"], request.text("version")
    reason = request.text("reason")
    return _result(request, lifecycle.withdraw(request.web.engine, name, version, reason))


def _result(request: ActionRequest, tournament: Tournament) -> ActionResult:
    progress = tournaments.progress(request.web.engine, tournament.id)
    return ActionResult(
        json_values.tournament(tournament, progress), CONTROLS.format(id=tournament.id)
    )


CREATE: Final = Action(
    "/organiser/tournaments",
    "tournament.create",
    "Create the tournament",
    "Creates a tournament of registered bots.",
    _create,
    FIELDS,
    created=True,
    form=NEW,
)
PREVIEW: Final = Action(
    "/organiser/tournaments/preview",
    "tournament.preview",
    "Preview the schedule",
    "Checks the settings of a tournament and returns its schedule, without creating it.",
    _preview,
    FIELDS,
    audited=False,
    form=NEW,
)
START: Final = Action(
    "/organiser/tournaments/{id}/start",
    "tournament.start",
    "Start",
    "Starts or continues a paused tournament.",
    _state_change(lifecycle.resume),
    (_OPTIONAL_REASON,),
    form=CONTROLS,
)
PAUSE: Final = Action(
    "/organiser/tournaments/{id}/pause",
    "tournament.pause",
    "Pause",
    "Starts no further match of a tournament; running matches are finished.",
    _state_change(lifecycle.pause),
    (_OPTIONAL_REASON,),
    form=CONTROLS,
)
CANCEL: Final = Action(
    f"{CONTROLS}/cancel",
    "tournament.cancel",
    "Cancel the tournament",
    "Cancels a tournament and its pending matches; closed and running matches count.",
    _state_change(lifecycle.cancel),
    (REASON,),
    changes=consequences.of_cancellation,
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
    form=CONTROLS,
)
WITHDRAW: Final = Action(
    f"{CONTROLS}/withdraw",
    "tournament.withdraw",
    "Withdraw",
    "Withdraws a bot: running matches are finished, its pending matches are cancelled.",
    _withdraw,
    (
        InputField("version", "the bot as NAME@VERSION", required=True, example="greedy@1"),
        InputField("reason", "reason, shown with the cancelled matches", required=True),
    ),
    changes=consequences.of_withdrawal,
)
ACTIONS: Final = (CREATE, PREVIEW, START, PAUSE, CANCEL, ADD, WITHDRAW)

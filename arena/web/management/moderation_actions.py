"""Void, replay and decide matches, disqualify and ban versions, and correct the owners of bots."""

from __future__ import annotations

from typing import Final

from arena.store.bots import quarantine, versions
from arena.store.matches import corrections
from arena.web.management import consequences
from arena.web.management.action import (
    PUBLIC_REASON,
    REASON,
    Action,
    ActionRequest,
    ActionResult,
    InputField,
)

BOTS: Final = consequences.BOTS
_VERSION: Final = InputField("version", "NAME@VERSION", required=True, example="greedy@1")


def _void(request: ActionRequest) -> ActionResult:
    match = request.path["id"]
    corrections.void(request.web.engine, match, request.actor, request.text("reason"))
    return ActionResult({"match": match, "state": "void"}, f"/organiser/matches/{match}")


def _replay(request: ActionRequest) -> ActionResult:
    match = request.path["id"]
    new = corrections.replay(request.web.engine, match, request.actor, request.text("reason"))
    values = {"match": match, "state": "void", "replay": new}
    return ActionResult(values, f"/organiser/matches/{new}")


def _forfeit(request: ActionRequest) -> ActionResult:
    match, version = request.path["id"], request.text("version")
    corrections.forfeit(request.web.engine, match, version, request.actor, request.text("reason"))
    values = {"match": match, "state": "void", "forfeited_by": version}
    return ActionResult(values, f"/organiser/matches/{match}")


def _disqualify(request: ActionRequest) -> ActionResult:
    name, version = request.path["id"], request.text("version")
    voided = corrections.disqualify(
        request.web.engine, name, version, request.actor, request.text("reason")
    )
    values = {"tournament": name, "version": version, "voided": list(voided)}
    return ActionResult(values, f"/organiser/tournaments/{name}")


def _ban(request: ActionRequest) -> ActionResult:
    version = quarantine.ban(request.web.engine, request.text("version"), request.text("reason"))
    return ActionResult({"version": version.id, "reason": version.quarantine_reason}, BOTS)


def _release(request: ActionRequest) -> ActionResult:
    version = quarantine.lift(request.web.engine, request.text("version"))
    return ActionResult({"version": version.id, "reason": None}, BOTS)


def _reassign(request: ActionRequest) -> ActionResult:
    name, owner = request.text("name"), request.text("owner")
    versions.reassign(request.web.engine, name, owner)
    return ActionResult({"bot": name, "owner": owner}, BOTS)


VOID: Final = Action(
    "/organiser/matches/{id}/void",
    "match.void",
    "Void the match",
    "Voids an open or closed match; the ratings are computed again without it.",
    _void,
    (PUBLIC_REASON,),
    audited=False,
    form="/organiser/matches/{id}/void",
    changes=consequences.of_voiding,
)
REPLAY: Final = Action(
    "/organiser/matches/{id}/replay",
    "match.replay",
    "Replay the match",
    "Voids the match and schedules it again with a new seed; the ratings are computed again.",
    _replay,
    (PUBLIC_REASON,),
    audited=False,
    created=True,
    form="/organiser/matches/{id}/replay",
    changes=consequences.of_replay,
)
FORFEIT: Final = Action(
    "/organiser/matches/{id}/forfeit",
    "match.forfeit",
    "Decide the match",
    "Decides the match against a version: its tournament counts it as lost, the ratings do not.",
    _forfeit,
    (_VERSION, PUBLIC_REASON),
    audited=False,
    form="/organiser/matches/{id}/forfeit",
    changes=consequences.of_forfeit,
)
DISQUALIFY: Final = Action(
    "/organiser/tournaments/{id}/disqualify",
    "version.disqualify",
    "Disqualify",
    "Withdraws a version from a tournament and voids all its matches there.",
    _disqualify,
    (_VERSION, PUBLIC_REASON),
    audited=False,
    form="/organiser/tournaments/{id}/disqualify",
    changes=consequences.of_disqualification,
)
BAN: Final = Action(
    f"{BOTS}/ban",
    "version.ban",
    "Ban",
    "Withdraws a version from all open tournaments and excludes it from new ones.",
    _ban,
    (_VERSION, PUBLIC_REASON),
    form=f"{BOTS}/ban",
    changes=consequences.of_ban,
    begins=BOTS,
)
RELEASE: Final = Action(
    f"{BOTS}/release",
    "version.release",
    "Release",
    "Ends the ban or the quarantine of a version; it does not return to its tournaments.",
    _release,
    (_VERSION, REASON),
    form=f"{BOTS}/release",
    changes=consequences.of_release,
)
REASSIGN: Final = Action(
    f"{BOTS}/owner",
    "bot.owner",
    "Correct the owner",
    "Replaces the owner of a bot, also in the tournaments that are not over.",
    _reassign,
    (
        InputField("name", "name of the bot", required=True, example="greedy"),
        InputField("owner", "name of the owner; empty: none"),
        REASON,
    ),
    form=f"{BOTS}/owner",
    changes=consequences.of_reassignment,
    begins=BOTS,
)
ACTIONS: Final = (VOID, REPLAY, FORFEIT, DISQUALIFY, BAN, RELEASE, REASSIGN)

"""What organisers do with matches, versions, submissions and the tokens of owners."""

from __future__ import annotations

from functools import partial
from typing import Final

from arena.store.bots import owners, quarantine, submissions, versions
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
OWNERS: Final = "/organiser/owners"
SUBMISSIONS: Final = "/organiser/submissions"
_VERSION: Final = InputField("version", "NAME@VERSION", required=True, example="greedy@1")
_OWNER: Final = InputField("name", "name of the owner", required=True, example="ada")


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


def _issue(request: ActionRequest) -> ActionResult:
    name = request.text("name")
    return ActionResult({"owner": name, "token": owners.add_owner(request.web.engine, name)})


def _renew(request: ActionRequest) -> ActionResult:
    name = request.text("name")
    return ActionResult({"owner": name, "token": owners.renew(request.web.engine, name)})


def _revoke(request: ActionRequest) -> ActionResult:
    name = request.text("name")
    owners.revoke(request.web.engine, name)
    return ActionResult({"owner": name, "token": None}, OWNERS)


def _decide(approved: bool, request: ActionRequest) -> ActionResult:
    decided = submissions.approve(
        request.web.engine, request.path["id"], approved=approved, reason=request.text("reason")
    )
    values = {"submission": decided.id, "bot": decided.name, "approval": str(decided.approval)}
    return ActionResult(values, SUBMISSIONS)


VOID: Final = Action(
    "/organiser/matches/{id}/void",
    "match.void",
    "Void the match",
    "Voids an open or closed match; the ratings are computed again without it.",
    _void,
    (PUBLIC_REASON,),
    audited=False,
    changes=consequences.of_voiding,
)
REPLAY: Final = Action(
    "/organiser/matches/{id}/replay",
    "match.replay",
    "Play the match again",
    "Voids the match and schedules it again with a new seed; the ratings are computed again.",
    _replay,
    (PUBLIC_REASON,),
    audited=False,
    created=True,
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
    changes=consequences.of_disqualification,
)
BAN: Final = Action(
    f"{BOTS}/ban",
    "version.ban",
    "Ban",
    "Withdraws a version from all open tournaments and excludes it from new ones.",
    _ban,
    (_VERSION, PUBLIC_REASON),
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
    changes=consequences.of_reassignment,
    begins=BOTS,
)
ISSUE: Final = Action(
    OWNERS,
    "owner.add",
    "Issue a token",
    "Creates a token for an owner of bots and returns it once.",
    _issue,
    (_OWNER,),
    created=True,
    form=OWNERS,
)
RENEW: Final = Action(
    f"{OWNERS}/renew",
    "owner.renew",
    "Renew",
    "Creates a new token for an owner and revokes the old one with its sessions.",
    _renew,
    (_OWNER, REASON),
    changes=consequences.of_renewal,
)
REVOKE: Final = Action(
    f"{OWNERS}/revoke",
    "owner.revoke",
    "Revoke",
    "Revokes the token of an owner with its sessions; the bots keep their owner.",
    _revoke,
    (_OWNER, REASON),
    changes=consequences.of_revocation,
)
APPROVE: Final = Action(
    f"{SUBMISSIONS}/{{id}}/approve",
    "submission.approve",
    "Approve",
    "Admits a tested bot that waits for approval; it becomes a version and enters the ladders.",
    partial(_decide, True),
    (REASON,),
    form=SUBMISSIONS,
)
REFUSE: Final = Action(
    f"{SUBMISSIONS}/{{id}}/refuse",
    "submission.refuse",
    "Refuse",
    "Refuses a bot that waits for approval; its owner reads the reason.",
    partial(_decide, False),
    (InputField("reason", "reason for the owner of the bot and the audit log", required=True),),
    changes=consequences.of_refusal,
)
ACTIONS: Final = (
    *(VOID, REPLAY, FORFEIT, DISQUALIFY, BAN, RELEASE, REASSIGN),
    *(ISSUE, RENEW, REVOKE, APPROVE, REFUSE),
)

"""Issue, renew and revoke the tokens of owners of bots."""

from __future__ import annotations

from typing import Final

from arena.store.bots import owners
from arena.web.management import consequences
from arena.web.management.action import REASON, Action, ActionRequest, ActionResult, InputField

OWNERS: Final = "/organiser/owners"
_NAME: Final = InputField("name", "name of the owner", required=True, example="ada")


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


ISSUE: Final = Action(
    OWNERS,
    "owner.add",
    "Issue a token",
    "Creates a token for an owner of bots and returns it once.",
    _issue,
    (_NAME,),
    created=True,
    form=OWNERS,
)
RENEW: Final = Action(
    f"{OWNERS}/renew",
    "owner.renew",
    "Renew",
    "Creates a new token for an owner and revokes the old one with its sessions.",
    _renew,
    (_NAME, REASON),
    form=f"{OWNERS}/renew",
    changes=consequences.of_renewal,
)
REVOKE: Final = Action(
    f"{OWNERS}/revoke",
    "owner.revoke",
    "Revoke",
    "Revokes the token of an owner with its sessions; the bots keep their owner.",
    _revoke,
    (_NAME, REASON),
    form=f"{OWNERS}/revoke",
    changes=consequences.of_revocation,
)
ACTIONS: Final = (ISSUE, RENEW, REVOKE)

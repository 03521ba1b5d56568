"""Approve and refuse submissions that wait for the organiser's approval."""

from __future__ import annotations

from typing import Final

from arena.store.bots import submissions
from arena.web.management import consequences
from arena.web.management.action import REASON, Action, ActionRequest, ActionResult, InputField

SUBMISSIONS: Final = "/organiser/submissions"


def _approve(request: ActionRequest) -> ActionResult:
    return _decide(request, approved=True)


def _refuse(request: ActionRequest) -> ActionResult:
    return _decide(request, approved=False)


def _decide(request: ActionRequest, *, approved: bool) -> ActionResult:
    decided = submissions.approve(
        request.web.engine, request.path["id"], approved=approved, reason=request.text("reason")
    )
    values = {"submission": decided.id, "bot": decided.name, "approval": str(decided.approval)}
    return ActionResult(values, SUBMISSIONS)


APPROVE: Final = Action(
    f"{SUBMISSIONS}/{{id}}/approve",
    "submission.approve",
    "Approve",
    "Admits a tested bot that waits for approval; it becomes a version and enters the ladders.",
    _approve,
    (REASON,),
    form=SUBMISSIONS,
)
REFUSAL: Final = f"{SUBMISSIONS}/{{id}}/refuse"
REFUSE: Final = Action(
    REFUSAL,
    "submission.refuse",
    "Refuse",
    "Refuses a bot that waits for approval; its owner reads the reason.",
    _refuse,
    (InputField("reason", "reason for the owner of the bot and the audit log", required=True),),
    form=REFUSAL,
    changes=consequences.of_refusal,
)
ACTIONS: Final = (APPROVE, REFUSE)

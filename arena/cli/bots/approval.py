"""The commands `pokearena bot approvals`, `approve` and `refuse`: admit pushed bots."""

from __future__ import annotations

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.workspace import Workspace


@click.command(epilog="Example: pokearena bot approvals")
@json_option
@data_option
def approvals(as_json: bool, workspace: Workspace) -> None:
    """List the pushed bots that wait for approval. --json prints one line per submission.

    `serve --approve-pushes` holds pushed bots after their tests until an organiser approves them.
    """
    from arena.store.bots import submissions
    from arena.tournaments import json_values

    waiting = submissions.awaiting_approval(workspace.existing_store)
    output.listing(
        as_json,
        (
            {
                "submission": each.id,
                "bot": each.name,
                "owner": each.owner,
                "content_hash": each.content_hash,
                "bytes": each.bytes,
                "created": json_values.iso(each.created),
            }
            for each in waiting
        ),
        ("<submission", "<bot", "<owner", "bytes", "<pushed"),
        (
            (each.id, each.name, each.owner, each.bytes, output.local_time(each.created))
            for each in waiting
        ),
        f"pokearena bot approve {waiting[0].id} --reason TEXT" if waiting else "",
    )


@click.command(epilog='Example: pokearena bot approve s-7f3k9q2xwd --reason "it is small"')
@click.argument("submission", metavar="ID")
@reason_option("Reason for the audit log.")
@json_option
@data_option
def approve(submission: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Admit a pushed bot that waits for approval.

    `serve` then registers it as a version, which enters the open ladders.
    """
    _answer(submission, reason, as_json, workspace, approved=True)


@click.command(epilog='Example: pokearena bot refuse s-7f3k9q2xwd --reason "it is a copy"')
@click.argument("submission", metavar="ID")
@reason_option("Reason, shown to the owner.")
@json_option
@data_option
def refuse(submission: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Refuse a pushed bot that waits for approval."""
    _answer(submission, reason, as_json, workspace, approved=False)


def _answer(
    submission: str, reason: str, as_json: bool, workspace: Workspace, *, approved: bool
) -> None:
    from arena.store.bots import submissions

    action = "submission.approve" if approved else "submission.refuse"
    with workspace.audited(action, submission, reason) as store:
        answered = submissions.approve(store, submission, approved=approved, reason=reason)
    values = {"submission": answered.id, "bot": answered.name, "approval": str(answered.approval)}
    output.result(
        as_json,
        {**values, "reason": reason},
        f"{answered.name} ({answered.id}) is {answered.approval}",
        then="pokearena bot approvals",
    )

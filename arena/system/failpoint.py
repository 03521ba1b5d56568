"""Named fault points at which a process can be killed, for the fault suite (tests/faults).

    POKEARENA_FAILPOINTS=FOLDER

A process that reaches the point NAME kills itself with SIGKILL if there is a file FOLDER/NAME; it
deletes the file first. Of several processes, exactly one is thus killed, once, and a missing file
shows that the point was reached. Without the variable a point costs one comparison.
"""

import os
import signal
from typing import Final

VARIABLE: Final = "POKEARENA_FAILPOINTS"

TRANSACTIONS: Final = (
    "upgrade",
    "add_version",
    "keep_crate",
    "trust_crate",
    "begin_object",
    "discard_object",
    "abandon_objects",
    "forget_objects",
    "keep_object",
    "move_to_object",
    "move_to_database",
    "archive_records",
    "restore_records",
    "own",
    "add_token",
    "renew_token",
    "revoke_token",
    "sign_in",
    "sign_out",
    "audit",
    "void_closed",
    "replay",
    "forfeit",
    "disqualify",
    "ban",
    "reassign",
    "delete_owner",
    "erase_owner",
    "add_remote",
    "presence",
    "give_up",
    "retire",
    "schedule",
    "pause",
    "resume",
    "cancel",
    "join",
    "withdraw",
    "extend",
    "close",
    "lease",
    "renew",
    "commit_game",
    "closing_game",
    "release",
    "end_leases",
    "void",
    "quarantine",
    "lift",
    "rebuild",
    "sum_results",
    "recount_results",
    "write_standings",
    "write_rating_points",
    "delete_ladder",
    "restore",
    "submit",
    "take_up",
    "step",
    "approve",
    "decide",
    "grant_model",
    "revoke_model",
    "reserve_call",
    "settle_call",
    "reserve_match",
    "release_match",
    "stop_calls",
    "resume_calls",
    "add_webhook",
    "remove_webhook",
    "plan_deliveries",
    "start_delivery",
    "end_delivery",
    "note_test",
    "claim_idle_result",
    "store_idle_result",
    "delete_idle_results",
)
"""Every kind of write to the store; each is one transaction."""

EDGES: Final = ("begin", "written", "committed")
"""Before a transaction begins; after all writes, before COMMIT; after COMMIT."""

JOB_STEPS: Final = ("job.enqueued", "job.taken", "job.started", "job.removed")
"""Steps of a job in the match queue.

In order: before it is queued; after a worker has taken it; before the worker process executes it;
before it is removed. Only the queue is in Redis, so the next point also covers the time after each
step.
"""

# The closing game begins like every game.
NAMES: Final = (
    *(
        f"{transaction}.{edge}"
        for transaction in TRANSACTIONS
        for edge in EDGES
        if (transaction, edge) != ("closing_game", "begin")
    ),
    *JOB_STEPS,
)
"""All fault points."""

_folder = os.environ.get(VARIABLE)


def reach(name: str) -> None:
    """Mark a fault point; kill the process if the point is armed."""
    if _folder is None:
        return
    try:
        os.unlink(os.path.join(_folder, name))
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def edge(transaction: str, moment: str) -> None:
    """Mark an edge of a transaction."""
    if _folder is not None:
        reach(f"{transaction}.{moment}")

"""Submissions in a store, as owners would have left them there."""

from arena.cli.workspace import Workspace
from arena.store import ids
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits


def add_submission(
    workspace: Workspace, owner: str = "ada", name: str = "mybot", content: str = "5"
) -> Submission:
    """A submission that waits."""
    sent = ReceivedUpload(ids.submission_id(), owner, name, content * 64, 1000)
    return submissions.add(workspace.store, sent, SubmissionLimits())

"""Store submissions as uploads of owners do."""

from arena.cli.workspace import Workspace
from arena.store import ids
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits


def add_submission(
    workspace: Workspace, owner: str = "ada", name: str = "mybot", content: str = "5"
) -> Submission:
    """Store a waiting submission."""
    sent = ReceivedUpload(ids.submission_id(), owner, name, content * 64, 1000)
    return submissions.add_submission(workspace.store, sent, SubmissionLimits())

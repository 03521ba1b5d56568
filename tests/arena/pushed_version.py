"""Mark stored versions as pushed by an owner."""

from sqlalchemy import Engine

from arena.store import ids
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, SubmissionLimits
from arena.store.bots.versions import Version
from arena.store.schema import SubmissionState


def add_pushed_version(engine: Engine, version: Version, owner: str = "ada") -> None:
    """Store the accepted submission that a version came from."""
    upload = ReceivedUpload(ids.submission_id(), owner, version.name, version.content_hash, 1000)
    added = submissions.add_submission(engine, upload, SubmissionLimits())
    submissions.decide(
        engine, added.id, SubmissionState.ACCEPTED, "accepted", status=201, version=version.id
    )

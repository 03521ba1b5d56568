"""Submissions in a store, as owners would have left them there."""

from arena.cli.place import Place
from arena.store import keys, submissions
from arena.store.submissions import Limits, Sent, Submission


def push(place: Place, owner: str = "ada", name: str = "mybot", content: str = "5") -> Submission:
    """A submission that waits."""
    sent = Sent(keys.submission_id(), owner, name, content * 64, 1000)
    return submissions.add(place.store, sent, Limits())

"""Works on submissions, one after another, for as long as its process lives."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.bots import archive
from arena.bots.errors import InfrastructureError
from arena.store import submissions
from arena.store.errors import StoreError
from arena.submissions.stages import MOST_ATTEMPTS, Office

if TYPE_CHECKING:
    from arena.store.submissions import Submission

_PAUSE_SECONDS: Final = 0.5
_TROUBLE_SECONDS: Final = 5.0
_TIDY_SECONDS: Final = 600.0

log = logging.getLogger("arena.submissions")


def run(office: Office, goes_on: Callable[[], bool] = lambda: True) -> None:
    """Works for as long as it is to; waits first while another one works on the same folder."""
    with office.shelf.create().attended():
        log.info("submissions are worked on")
        tidy_at = 0.0
        while goes_on():
            if time.monotonic() >= tidy_at:
                tidy_at = time.monotonic() + _TIDY_SECONDS
                _tidy(office)
            time.sleep(_PAUSE_SECONDS if _round(office) else _TROUBLE_SECONDS)


def _round(office: Office) -> bool:
    """Works on what is there; owners take turns. Says whether the arena did its part."""
    well = True
    tried: list[Submission] = []
    try:
        while (waiting := next_of(submissions.undecided(office.engine), tried)) is not None:
            tried.append(waiting)
            well &= _work(office, waiting.id)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("submissions cannot be worked on: %s", error)
        return False
    return well


def next_of(undecided: Sequence[Submission], tried: Sequence[Submission]) -> Submission | None:
    """Return the next submission: the oldest of the owner who has had the fewest turns.

    Args:
        undecided: the submissions that wait, the oldest first.
        tried: those that had their turn in this round. They wait for the next round.
    """
    turns = Counter(submission.owner for submission in tried)
    done = {submission.id for submission in tried}
    waiting = [submission for submission in undecided if submission.id not in done]
    return min(waiting, key=lambda submission: turns[submission.owner], default=None)


def _work(office: Office, submission: str) -> bool:
    try:
        decided = office.work(submission)
    except (OSError, InfrastructureError) as error:
        log.warning("the arena failed with %s: %s", submission, error)
        if submissions.find(office.engine, submission).attempts >= MOST_ATTEMPTS:
            office.give_up(submission, "")
        return False
    log.info("%s is %s: %s", submission, decided.state, decided.sentence)
    return True


def _tidy(office: Office) -> None:
    try:
        archive.tidy(office.versions)
        office.shelf.tidy({one.id for one in submissions.undecided(office.engine)})
    except (SQLAlchemyError, StoreError, OSError) as error:
        log.warning("what was left of submissions cannot be removed: %s", error)

"""The loop that handles pending submissions, one after the other."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.bots import version_store
from arena.errors import InfrastructureError, StoreError
from arena.store.bots import submissions
from arena.submissions.pipeline import MOST_ATTEMPTS, SubmissionPipeline

if TYPE_CHECKING:
    from arena.store.bots.submissions import Submission


log = logging.getLogger("arena.submissions")


_PAUSE_SECONDS: Final = 0.5
_TROUBLE_SECONDS: Final = 5.0
_TIDY_SECONDS: Final = 600.0


def run(pipeline: SubmissionPipeline, continues: Callable[[], bool] = lambda: True) -> None:
    """Handle submissions while `continues` returns True.

    Waits first if another process holds the lock of the directory.
    """
    with pipeline.shelf.create().attended():
        log.info("handling submissions")
        tidy_at = 0.0
        while continues():
            if time.monotonic() >= tidy_at:
                tidy_at = time.monotonic() + _TIDY_SECONDS
                _tidy(pipeline)
            time.sleep(_PAUSE_SECONDS if _round(pipeline) else _TROUBLE_SECONDS)


def _round(pipeline: SubmissionPipeline) -> bool:
    """Handle the undecided submissions; owners take turns. Return False if the arena failed."""
    well = True
    tried: list[Submission] = []
    try:
        while (waiting := next_of(submissions.undecided(pipeline.engine), tried)) is not None:
            tried.append(waiting)
            well &= _work(pipeline, waiting.id)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("submissions cannot be handled: %s", error)
        return False
    return well


def next_of(undecided: Sequence[Submission], tried: Sequence[Submission]) -> Submission | None:
    """Return the next submission: the oldest one of the owner with the fewest turns.

    Args:
        undecided: the waiting submissions, the oldest first.
        tried: the submissions handled in this round; they wait for the next round.
    """
    turns = Counter(submission.owner for submission in tried)
    done = {submission.id for submission in tried}
    waiting = [submission for submission in undecided if submission.id not in done]
    return min(waiting, key=lambda submission: turns[submission.owner], default=None)


def _work(pipeline: SubmissionPipeline, submission: str) -> bool:
    try:
        decided = pipeline.work(submission)
    except (OSError, InfrastructureError) as error:
        log.warning("the arena failed to handle %s: %s", submission, error)
        if submissions.find(pipeline.engine, submission).attempts >= MOST_ATTEMPTS:
            pipeline.give_up(submission, "")
        return False
    log.info("%s is %s: %s", submission, decided.state, decided.sentence)
    return True


def _tidy(pipeline: SubmissionPipeline) -> None:
    try:
        version_store.tidy(pipeline.versions)
        pipeline.shelf.tidy(
            {submission.id for submission in submissions.undecided(pipeline.engine)}
        )
    except (SQLAlchemyError, StoreError, OSError) as error:
        log.warning("leftover files of submissions cannot be removed: %s", error)

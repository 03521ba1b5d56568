"""The order of waiting submissions: owners take turns; how long each is likely to wait.

All of it follows from the rows of submissions. The process that handles submissions and the pages
therefore use the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from arena.store.bots import submissions
from arena.store.schema import Approval, SubmissionState

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.bots.submissions import RecentRun, Submission

_TYPICAL: Final = 20
"""Number of decided submissions whose durations make the estimate."""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """The place of a waiting submission.

    Args:
        ahead: submissions that are being worked on or are taken up earlier.
        seconds: the estimated wait, from the median duration of the latest decided submissions;
            None if none has been decided.
    """

    ahead: int
    seconds: float | None

    @property
    def words(self) -> str:
        """The position as a clause: "3 ahead of it, about 2 min"."""
        if self.ahead == 0:
            return "next in turn"
        about = "" if self.seconds is None else f", about {_duration(self.seconds)}"
        return f"{self.ahead} ahead of it{about}"

    def to_json(self) -> dict[str, Any]:
        return {"ahead": self.ahead, "seconds": self.seconds, "words": self.words}


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def due(engine: Engine) -> list[Submission]:
    """Return the undecided submissions that do not wait for approval, the oldest first."""
    undecided = submissions.undecided(engine)
    return [each for each in undecided if each.approval is not Approval.WAITING]


def last_turns(runs: Sequence[RecentRun]) -> dict[str, float]:
    """Return the time at which each owner's latest processing began."""
    turns: dict[str, float] = {}
    for run in runs:
        if run.began is not None:
            turns[run.owner] = max(run.began, turns.get(run.owner, 0.0))
    return turns


def next_of(
    waiting: Sequence[Submission], turns: Mapping[str, float], busy: Collection[str] = ()
) -> Submission | None:
    """Return the next submission: the oldest one of the owner whose latest turn is oldest.

    Args:
        waiting: the waiting submissions, the oldest first.
        turns: the time of each owner's latest turn.
        busy: the owners of whom a submission is being worked on; they wait.
    """
    free = (submission for submission in waiting if submission.owner not in busy)
    return min(free, key=lambda submission: turns.get(submission.owner, 0.0), default=None)


def positions(engine: Engine, builds: int) -> dict[str, QueuePosition]:
    """Return the positions of all waiting submissions by their IDs.

    Args:
        builds: the number of submissions that are handled at the same time.
    """
    undecided = due(engine)
    waiting = [each for each in undecided if each.state is SubmissionState.WAITING]
    if not waiting:
        return {}
    running = [each for each in undecided if each.state is SubmissionState.RUNNING]
    runs = submissions.recent_runs(engine)
    lasted = [run.ended - run.began for run in runs if run.ended and run.began][:_TYPICAL]
    typical = median(lasted) if lasted else None
    return dict(_ordered(waiting, running, last_turns(runs), builds, typical))


def _ordered(
    waiting: list[Submission],
    running: Sequence[Submission],
    turns: dict[str, float],
    builds: int,
    typical: float | None,
) -> list[tuple[str, QueuePosition]]:
    """Take the waiting submissions in turn, and return the position of each."""
    earlier = [submission.owner for submission in running]
    turn = max(turns.values(), default=0.0)
    ordered = []
    while (taken := next_of(waiting, turns)) is not None:
        waiting.remove(taken)
        turn += 1.0
        turns[taken.owner] = turn
        # Submissions of one owner are handled one after another.
        rounds = max(len(earlier) // builds, earlier.count(taken.owner))
        seconds = None if typical is None else round(rounds * typical, 1)
        ahead = len(earlier) if rounds else 0
        ordered.append((taken.id, QueuePosition(ahead, seconds)))
        earlier.append(taken.owner)
    return ordered

"""Pages of submissions: the list, and one submission with its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.presentation import wording
from arena.store.bots import owners, submissions
from arena.store.bots.submissions import Submission
from arena.store.schema import Approval, SubmissionStage, SubmissionState
from arena.store.tournaments import tournaments
from arena.submissions import turns
from arena.submissions.turns import QueuePosition
from arena.tournaments import json_values
from arena.web import paging
from arena.web.data.changes import SUBMISSIONS
from arena.web.data.web_state import WebState
from arena.web.page import Forbidden, Page, PageRequest, TextTable

_DONE: Final = {
    SubmissionStage.RECEIVED: "received",
    SubmissionStage.CHECKING: "checked",
    SubmissionStage.BUILDING: "built",
    SubmissionStage.TESTING: "tested",
    SubmissionStage.APPROVING: "approved",
    SubmissionStage.ENTERING: "in the arena",
}
"""Text of a completed stage."""
_REFUSED: Final = {
    SubmissionStage.CHECKING: "refused: a check of the files failed",
    SubmissionStage.BUILDING: "refused: the build failed",
    SubmissionStage.TESTING: "refused: a test failed",
    SubmissionStage.APPROVING: "refused by the organiser",
}
"""Text of a refusal; at the other stages it is "refused"."""
_LISTED: Final = 500


@dataclass(frozen=True, slots=True)
class SubmissionStep:
    """A stage as it is shown; `state` is "done", "now", "failed" or "open"."""

    stage: SubmissionStage
    state: str
    at: float | None

    @property
    def words(self) -> str:
        """Text of the stage for its state."""
        return _DONE[self.stage] if self.state in ("done", "open") else str(self.stage)


def steps(submission: Submission) -> tuple[SubmissionStep, ...]:
    """Return all stages of a submission, with the future ones."""
    begun = dict(submission.steps)
    begun.setdefault(SubmissionStage.RECEIVED, submission.created)
    order = [
        stage
        for stage in SubmissionStage
        if submission.approval or stage is not SubmissionStage.APPROVING
    ]
    last = max(order.index(stage) for stage in begun)
    return tuple(
        SubmissionStep(stage, _state(submission, at, last), begun.get(stage))
        for at, stage in enumerate(order)
    )


def _state(submission: Submission, at: int, last: int) -> str:
    if at < last or submission.state is SubmissionState.ACCEPTED or at == last == 0:
        return "done"
    if at > last:
        return "open"
    return "failed" if submission.is_decided else "now"


def standing(submission: Submission, position: QueuePosition | None = None) -> str:
    """Return the public state in a few words; `position`: that of a waiting submission."""
    match submission.state:
        case SubmissionState.WAITING if submission.approval is Approval.WAITING:
            return "waiting for the organiser's approval"
        case SubmissionState.WAITING:
            return "waiting" if position is None else f"waiting, {position.words}"
        case SubmissionState.RUNNING:
            return str(submission.stage)
        case SubmissionState.ACCEPTED:
            return "on the ladder" if submission.ladders else "in the arena"
        case SubmissionState.REFUSED:
            return _REFUSED.get(submission.stage, "refused")
    return "not processed because of a failure of the arena"


def to_json(
    submission: Submission, *, owned: bool, position: QueuePosition | None = None
) -> dict[str, Any]:
    """Return the submission as JSON values.

    Args:
        owned: whether to include the values only for the owner.
        position: its position while it waits for its turn.
    """
    values: dict[str, Any] = {
        "submission": submission.id,
        "owner": submission.owner,
        "bot": submission.name,
        "content_hash": submission.content_hash,
        "bytes": submission.bytes,
        "state": str(submission.state),
        "stage": str(submission.stage),
        "stages": [
            {"stage": str(step.stage), "state": step.state, "began": json_values.iso(step.at)}
            for step in steps(submission)
        ],
        "waiting": None if position is None else position.to_json(),
        "approval": str(submission.approval) or None,
        "version": submission.version,
        "ladders": list(submission.ladders),
        "created": json_values.iso(submission.created),
        "ended": json_values.iso(submission.ended),
    }
    if owned:
        values |= {
            "status": submission.status,
            "sentence": submission.sentence or None,
            "output": submission.output or None,
        }
    return values


def submission_page(web: WebState, page_request: PageRequest) -> Page:
    """Return a submission; raises NotFound, or Forbidden for the token of another owner."""
    submission = submissions.find_submission(web.engine, page_request.path["id"])
    owned = bool(page_request.token) or page_request.is_session_of(submission.owner)
    if page_request.token and owners.known_by(web.engine, page_request.token) != submission.owner:
        raise Forbidden("the token does not belong to the owner of this submission.")
    position = positions_of(web, [submission]).get(submission.id)
    return Page(
        title=f"Submission {submission.id}",
        template="submission.html",
        model={
            "submission": submission,
            "owned": owned,
            "steps": steps(submission),
            "standing": standing(submission, position),
            "placed": [
                (form, place, len(ladder.table.lines))
                for form, ladder in web.snapshot.ladders.items()
                for place, line in ladder.table.ranked
                if line.entrant == submission.version and line.matches
            ],
            "unfinished": [tournament for tournament, _ in web.snapshot.open_tournaments],
            "ladders": [
                tournaments.find_tournament(web.engine, ladder) for ladder in submission.ladders
            ],
        },
        data=to_json(submission, owned=owned, position=position),
        # A stream of events cannot send the token of a program.
        parts=() if page_request.token else ("submission-state",),
        topics=frozenset({SUBMISSIONS}),
        fresh=0 if owned else 20.0,
        still=submission.is_decided,
    )


def submissions_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of the newest submissions."""
    piece = paging.selection_of(page_request, 25).cut(
        submissions.list_submissions(web.engine, limit=_LISTED)
    )
    positions = positions_of(web, piece.items)
    shown = lines(piece.items, positions)
    table = _table(shown)
    return Page(
        title="Submissions",
        template="submissions.html",
        model={"lines": shown, "piece": piece},
        data={
            "submissions": [
                to_json(item, owned=False, position=positions.get(item.id)) for item in piece.items
            ],
            "list": piece.to_json(),
            "most_bytes": web.settings.push_mib * 2**20,
        },
        csv=table,
        text=table,
        parts=("submission-lines",),
        topics=frozenset({SUBMISSIONS}),
        headers=piece.headers,
    )


def positions_of(web: WebState, items: Sequence[Submission]) -> dict[str, QueuePosition]:
    """Return the positions of the submissions that wait for their turn, by their IDs."""
    if all(item.state is not SubmissionState.WAITING for item in items):
        return {}
    return turns.positions(web.engine, web.settings.builds)


def lines(
    items: Sequence[Submission], positions: Mapping[str, QueuePosition]
) -> list[tuple[Submission, str]]:
    """Return the submissions with their public state."""
    return [(item, standing(item, positions.get(item.id))) for item in items]


def _table(shown: Sequence[tuple[Submission, str]]) -> TextTable:
    return TextTable(
        ("<submission", "<bot", "<owner", "<pushed", "<state", "<version"),
        [
            (item.id, item.name, item.owner, wording.moment(item.created), how, item.version)
            for item, how in shown
        ],
    )

"""Submissions: uploads of owners over the network, their progress and the decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, Row, func, insert, or_, select, update

from arena.errors import Conflict, NotFound, TooMany
from arena.store import schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.postgresql import lock_decision, lock_rows
from arena.store.schema import UNDECIDED, Approval, SubmissionStage, SubmissionState

_DAY: Final = 86_400
_SOON: Final = 60


@dataclass(frozen=True, slots=True)
class Submission:
    """An upload of an owner, and its progress."""

    id: str
    owner: str
    name: str
    """The bot that gets the new version."""
    content_hash: str
    """As stated by the sender; it is checked."""
    bytes: int
    """Size of the upload archive."""
    state: SubmissionState
    stage: SubmissionStage
    """The stage that began last."""
    steps: tuple[tuple[SubmissionStage, float], ...]
    """The stages so far, with the times of their latest start."""
    attempts: int
    sentence: str
    """The decision as a sentence; empty while undecided."""
    status: int | None
    """The HTTP status equivalent to the decision."""
    output: str
    """The tail of the output of a failed build or test."""
    version: str | None
    ladders: tuple[str, ...]
    """The tournaments that the version entered."""
    approval: Approval
    approval_reason: str
    """The organiser's reason for the approval or the refusal."""
    created: float
    changed: float
    ended: float | None

    @property
    def is_decided(self) -> bool:
        """Whether it is accepted, refused or failed."""
        return self.state not in UNDECIDED


@dataclass(frozen=True, slots=True)
class RecentRun:
    """When the processing of a submission began and ended.

    Args:
        began: the latest start; None before the first one.
        ended: the decision; None while undecided.
    """

    owner: str
    began: float | None
    ended: float | None


@dataclass(frozen=True, slots=True)
class ReceivedUpload:
    """A received upload, not stored as a submission yet; `content_hash` is stated by the sender."""

    id: str
    owner: str
    name: str
    content_hash: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SubmissionLimits:
    """Limits on the number of submissions.

    Attributes:
        undecided: undecided submissions of all owners, without those that wait for approval.
        per_owner: undecided submissions of one owner.
        a_day: submissions of one owner within 24 hours.
    """

    undecided: int = 60
    per_owner: int = 3
    a_day: int = 50


def add_submission(engine: Engine, sent: ReceivedUpload, limits: SubmissionLimits) -> Submission:
    """Store an upload as a waiting submission.

    If an undecided submission of this owner has the same content, that one is returned instead.

    Raises:
        TooMany: a limit is reached.
    """
    table = schema.submissions
    with writing(engine, "submit") as connection:
        lock_decision(connection, "submit")
        waiting = _waiting(connection, sent.owner, sent.content_hash)
        if waiting is None:
            _check(connection, sent.owner, limits)
            connection.execute(
                insert(table).values(
                    id=sent.id,
                    owner=sent.owner,
                    name=sent.name,
                    content_hash=sent.content_hash,
                    bytes=sent.bytes,
                    state=SubmissionState.WAITING,
                    stage=SubmissionStage.RECEIVED,
                    steps=[],
                    attempts=0,
                    ladders=[],
                    created=now(),
                    changed=now(),
                )
            )
    return waiting or find_submission(engine, sent.id)


def check(engine: Engine, owner: str, limits: SubmissionLimits) -> None:
    """Check that an owner may send a submission now.

    Raises:
        TooMany: a limit is reached.
    """
    with reading(engine) as connection:
        _check(connection, owner, limits)


def count_today(engine: Engine, owner: str) -> int:
    """Return the number of submissions of an owner within 24 hours."""
    table = schema.submissions
    today = (table.c.owner == owner, table.c.created > now() - _DAY)
    return int(read_rows(engine, select(func.count()).where(*today)).scalar_one())


def waiting(engine: Engine, owner: str, content: str) -> Submission | None:
    """Return the owner's undecided submission with this content hash, if any."""
    with reading(engine) as connection:
        return _waiting(connection, owner, content)


def find_submission(engine: Engine, submission: str) -> Submission:
    """Return the submission with this id.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        return _find(connection, submission)


def list_submissions(
    engine: Engine, *, name: str | None = None, owner: str | None = None, limit: int = 100
) -> tuple[Submission, ...]:
    """Return the newest submissions, newest first, optionally of one bot or one owner."""
    table = schema.submissions
    query = select(table).order_by(table.c.created.desc(), table.c.id).limit(limit)
    if name is not None:
        query = query.where(table.c.name == name)
    if owner is not None:
        query = query.where(table.c.owner == owner)
    return tuple(map(_submission, read_rows(engine, query)))


def undecided(engine: Engine) -> tuple[Submission, ...]:
    """Return the undecided submissions, oldest first."""
    return _oldest_first(engine, _is_undecided())


def awaiting_approval(engine: Engine) -> tuple[Submission, ...]:
    """Return the submissions that wait for the organiser's approval, oldest first."""
    return _oldest_first(engine, _awaits_approval())


def recent_runs(engine: Engine) -> tuple[RecentRun, ...]:
    """Return the processing times of the 100 submissions that changed last, the latest first."""
    table = schema.submissions
    query = (
        select(table.c.owner, table.c.steps, table.c.ended)
        .order_by(table.c.changed.desc(), table.c.id)
        .limit(100)
    )
    return tuple(
        RecentRun(owner, steps[0][1] if steps else None, ended)
        for owner, steps, ended in read_rows(engine, query)
    )


def _oldest_first(engine: Engine, condition: ColumnElement[bool]) -> tuple[Submission, ...]:
    table = schema.submissions
    query = select(table).where(condition).order_by(table.c.created, table.c.id)
    return tuple(map(_submission, read_rows(engine, query)))


def mark(engine: Engine) -> tuple[int, float]:
    """Return the number of submissions and the time of the last change, to detect changes."""
    table = schema.submissions
    with reading(engine) as connection:
        count, last = connection.execute(select(func.count(), func.max(table.c.changed))).one()
        return count, last or 0.0


def take_up(engine: Engine, submission: str) -> Submission:
    """Start processing a submission, for the first time or again.

    One that is decided, or waits for approval, does not change.
    """
    table = schema.submissions
    with writing(engine, "take_up") as connection:
        connection.execute(
            update(table)
            .where(table.c.id == submission, _is_undecided(), ~_awaits_approval())
            .values(
                state=SubmissionState.RUNNING,
                attempts=table.c.attempts + 1,
                changed=now(),
                steps=[],
            )
        )
        return _find(connection, submission)


def step(
    engine: Engine, submission: str, stage: SubmissionStage, *, awaits_approval: bool = False
) -> None:
    """Record the start of a stage.

    Args:
        awaits_approval: whether the submission now waits for the organiser's approval.
    """
    table = schema.submissions
    waiting = {"state": SubmissionState.WAITING, "approval": Approval.WAITING}
    with writing(engine, "step") as connection:
        lock_rows(connection, select(table.c.id).where(table.c.id == submission))
        current = _find(connection, submission)
        at = connection.execute(select(now())).scalar_one()
        steps = [*([str(reached), when] for reached, when in current.steps), [str(stage), at]]
        connection.execute(
            update(table)
            .where(table.c.id == submission)
            .values(stage=stage, steps=steps, changed=at, **(waiting if awaits_approval else {}))
        )


def approve(engine: Engine, submission: str, *, approved: bool, reason: str) -> Submission:
    """Approve or refuse a submission that waits for approval; its processing then continues.

    Args:
        approved: whether it is approved.
        reason: the reason, as a clause; shown to the owner after a refusal.

    Raises:
        NotFound: the submission does not exist.
        Conflict: it does not wait for approval.
    """
    table = schema.submissions
    with writing(engine, "approve") as connection:
        changed = connection.execute(
            update(table)
            .where(table.c.id == submission, _awaits_approval())
            .values(
                approval=Approval.APPROVED if approved else Approval.REFUSED,
                approval_reason=reason,
                attempts=0,
                changed=now(),
            )
        )
        stored = _find(connection, submission)
        if changed.rowcount == 0:
            raise Conflict(
                f"submission {submission} does not wait for approval: it is {stored.state}.",
                code="not-waiting",
            )
    return stored


def decide(
    engine: Engine,
    submission: str,
    state: SubmissionState,
    sentence: str,
    *,
    status: int,
    output: str = "",
    version: str | None = None,
    ladders: Sequence[str] = (),
) -> Submission:
    """Record the decision on a submission; a submission that is decided already does not change."""
    table = schema.submissions
    with writing(engine, "decide") as connection:
        connection.execute(
            update(table)
            .where(table.c.id == submission, _is_undecided())
            .values(
                state=state,
                sentence=sentence,
                status=status,
                output=output,
                version=version,
                ladders=list(ladders),
                changed=now(),
                ended=now(),
            )
        )
        return _find(connection, submission)


def _check(connection: Connection, owner: str, limits: SubmissionLimits) -> None:
    table = schema.submissions
    of_owner, open_ = table.c.owner == owner, _is_undecided()
    today = table.c.created > now() - _DAY
    counted = connection.execute(
        select(
            func.count().filter(open_ & ~_awaits_approval()).label("all"),
            func.count().filter(of_owner & open_).label("own"),
            func.count().filter(of_owner & today).label("a_day"),
        ).where(or_(open_, of_owner & today))
    ).one()
    if counted.own >= limits.per_owner:
        raise TooMany(
            f"{counted.own} submissions of {owner} are being worked on; send the next one when "
            "one of them is decided.",
            _SOON,
        )
    if counted.a_day >= limits.a_day:
        raise TooMany(
            f"{owner} has sent {counted.a_day} submissions within a day, which is the most.", 3600
        )
    if counted.all >= limits.undecided:
        raise TooMany(f"{counted.all} submissions wait already; please send yours later.", _SOON)


def _waiting(connection: Connection, owner: str, content: str) -> Submission | None:
    table = schema.submissions
    row = connection.execute(
        select(table)
        .where(table.c.owner == owner, table.c.content_hash == content, _is_undecided())
        .order_by(table.c.created)
        .limit(1)
    ).one_or_none()
    return None if row is None else _submission(row)


def _is_undecided() -> ColumnElement[bool]:
    return schema.submissions.c.state.in_(UNDECIDED)


def _awaits_approval() -> ColumnElement[bool]:
    return _is_undecided() & (schema.submissions.c.approval == Approval.WAITING)


def _find(connection: Connection, submission: str) -> Submission:
    table = schema.submissions
    row = connection.execute(select(table).where(table.c.id == submission)).one_or_none()
    if row is None:
        raise NotFound(f"unknown submission {submission}.", code="unknown-submission")
    return _submission(row)


def _submission(row: Row[*tuple[Any, ...]]) -> Submission:
    values = dict(row._mapping)
    return Submission(
        **{
            **values,
            "state": SubmissionState(values["state"]),
            "stage": SubmissionStage(values["stage"]),
            "steps": tuple((SubmissionStage(stage), at) for stage, at in values["steps"]),
            "ladders": tuple(values["ladders"]),
            "approval": Approval(values["approval"]),
        }
    )

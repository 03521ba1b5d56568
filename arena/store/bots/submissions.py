"""Submissions: what owners have sent over the network, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, Row, func, insert, or_, select, update

from arena.errors import NotFound, TooMany
from arena.store import schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import alone, keep
from arena.store.schema import UNDECIDED, Stage, SubmissionState

_DAY: Final = 86_400
_SOON: Final = 60


@dataclass(frozen=True, slots=True)
class Submission:
    """Something that an owner has sent, and how far it is."""

    id: str
    owner: str
    name: str
    """Of the bot of which it is to be a version."""
    content_hash: str
    """As its sender says."""
    bytes: int
    """Of the parcel it came in."""
    state: SubmissionState
    stage: Stage
    """The last one that was begun."""
    steps: tuple[tuple[Stage, float], ...]
    """The stages so far, and when they were begun the last time."""
    attempts: int
    sentence: str
    """What became of it; empty while nobody knows."""
    status: int | None
    """The HTTP status that says the same."""
    output: str
    """The end of what was written by a build or a test that failed."""
    version: str | None
    ladders: tuple[str, ...]
    """The tournaments it was let into."""
    created: float
    changed: float
    ended: float | None

    @property
    def is_decided(self) -> bool:
        """Whether it is known what became of it."""
        return self.state not in UNDECIDED


@dataclass(frozen=True, slots=True)
class Sent:
    """What has arrived: whose it is, of which bot, and its content by what its sender says."""

    id: str
    owner: str
    name: str
    content_hash: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How many submissions there may be.

    undecided: of all owners together. own: of one owner. a_day: of one owner within 24 hours.
    """

    undecided: int = 30
    own: int = 3
    a_day: int = 50


def add(engine: Engine, sent: Sent, limits: Limits) -> Submission:
    """Takes it in; it waits then. The same content of the same owner that waits already is given
    back instead.

    Raises:
        TooMany: there are as many as there may be.
    """
    table = schema.submissions
    with writing(engine, "submit") as connection:
        alone(connection, "submit")
        found = _waiting(connection, sent.owner, sent.content_hash)
        if found is None:
            _check(connection, sent.owner, limits)
            connection.execute(
                insert(table).values(
                    id=sent.id,
                    owner=sent.owner,
                    name=sent.name,
                    content_hash=sent.content_hash,
                    bytes=sent.bytes,
                    state=SubmissionState.WAITING,
                    stage=Stage.RECEIVED,
                    steps=[],
                    attempts=0,
                    ladders=[],
                    created=now(),
                    changed=now(),
                )
            )
    return found or find(engine, sent.id)


def check(engine: Engine, owner: str, limits: Limits) -> None:
    """Sees that an owner may send something now. Raises TooMany."""
    with reading(engine) as connection:
        _check(connection, owner, limits)


def waiting(engine: Engine, owner: str, content: str) -> Submission | None:
    """The submission of an owner with this content of which nobody knows yet what becomes of it."""
    with reading(engine) as connection:
        return _waiting(connection, owner, content)


def find(engine: Engine, submission: str) -> Submission:
    """The submission of this id.

    Raises:
        NotFound: there is none.
    """
    with reading(engine) as connection:
        return _find(connection, submission)


def listing(
    engine: Engine, *, name: str | None = None, owner: str | None = None, limit: int = 100
) -> tuple[Submission, ...]:
    """The newest submissions, the newest first; only those of a bot or an owner, if asked."""
    table = schema.submissions
    query = select(table).order_by(table.c.created.desc(), table.c.id).limit(limit)
    if name is not None:
        query = query.where(table.c.name == name)
    if owner is not None:
        query = query.where(table.c.owner == owner)
    with reading(engine) as connection:
        return tuple(map(_submission, connection.execute(query)))


def undecided(engine: Engine) -> tuple[Submission, ...]:
    """Those of which nobody knows yet what becomes of them, the oldest first."""
    table = schema.submissions
    query = select(table).where(_is_undecided()).order_by(table.c.created, table.c.id)
    with reading(engine) as connection:
        return tuple(map(_submission, connection.execute(query)))


def mark(engine: Engine) -> tuple[int, float]:
    """What tells whether anything has changed: how many there are, and when one changed last."""
    table = schema.submissions
    with reading(engine) as connection:
        count, last = connection.execute(select(func.count(), func.max(table.c.changed))).one()
        return count, last or 0.0


def take_up(engine: Engine, submission: str) -> Submission:
    """Begins work on it, for the first time or again."""
    table = schema.submissions
    with writing(engine, "take_up") as connection:
        connection.execute(
            update(table)
            .where(table.c.id == submission, _is_undecided())
            .values(
                state=SubmissionState.RUNNING,
                attempts=table.c.attempts + 1,
                changed=now(),
                steps=[],
            )
        )
        return _find(connection, submission)


def step(engine: Engine, submission: str, stage: Stage) -> None:
    """Notes that a stage has begun."""
    table = schema.submissions
    with writing(engine, "step") as connection:
        keep(connection, select(table.c.id).where(table.c.id == submission))
        found = _find(connection, submission)
        at = connection.execute(select(now())).scalar_one()
        steps = [*([str(one), when] for one, when in found.steps), [str(stage), at]]
        connection.execute(
            update(table)
            .where(table.c.id == submission)
            .values(stage=stage, steps=steps, changed=at)
        )


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
    """Notes what became of it; what has been decided stays so."""
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


def _check(connection: Connection, owner: str, limits: Limits) -> None:
    table = schema.submissions
    own, open_ = table.c.owner == owner, _is_undecided()
    today = table.c.created > now() - _DAY
    counted = connection.execute(
        select(
            func.count().filter(open_).label("all"),
            func.count().filter(own & open_).label("own"),
            func.count().filter(own & today).label("a_day"),
        ).where(or_(open_, own & today))
    ).one()
    if counted.own >= limits.own:
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


def _find(connection: Connection, submission: str) -> Submission:
    table = schema.submissions
    row = connection.execute(select(table).where(table.c.id == submission)).one_or_none()
    if row is None:
        raise NotFound(f"there is no submission {submission}.")
    return _submission(row)


def _submission(row: Row[*tuple[Any, ...]]) -> Submission:
    said = dict(row._mapping)
    return Submission(
        **{
            **said,
            "state": SubmissionState(said["state"]),
            "stage": Stage(said["stage"]),
            "steps": tuple((Stage(stage), at) for stage, at in said["steps"]),
            "ladders": tuple(said["ladders"]),
        }
    )

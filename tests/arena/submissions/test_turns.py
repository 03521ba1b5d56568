"""Test that owners take turns, so that one with many submissions does not delay the others."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.store import database
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits
from arena.submissions.pipeline import next_of


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Yield an empty SQLite store."""
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade(engine)
    yield engine
    engine.dispose()


def add_submissions(engine: Engine, *ids: str) -> None:
    """Add submissions; the first letter of an id is its owner."""
    for submission in ids:
        sent = ReceivedUpload(submission, submission[0], f"bot-{submission}", submission * 32, 1)
        submissions.add(engine, sent, SubmissionLimits())


def test_owners_take_turns(engine: Engine) -> None:
    add_submissions(engine, "a1", "a2", "a3", "b1", "c1", "b2")
    tried: list[Submission] = []
    while (chosen := next_of(submissions.undecided(engine), tried)) is not None:
        tried.append(chosen)
    assert [submission.id for submission in tried] == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_later_submission_precedes_the_second_of_another_owner(
    engine: Engine,
) -> None:
    add_submissions(engine, "a1", "a2")
    [first, _] = submissions.undecided(engine)
    add_submissions(engine, "b1")
    chosen = next_of(submissions.undecided(engine), [first])
    assert chosen is not None
    assert chosen.id == "b1"

"""Test that owners take turns, so that one with many submissions does not delay the others."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.store import database
from arena.store.bots import submissions
from arena.store.bots.submissions import ReceivedUpload, Submission, SubmissionLimits
from arena.store.schema import SubmissionStage, SubmissionState
from arena.submissions.turns import QueuePosition, due, last_turns, next_of, positions


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade(engine)
    yield engine
    engine.dispose()


def add_submissions(engine: Engine, *ids: str) -> None:
    """Add submissions; the first letter of an id is its owner."""
    for submission in ids:
        sent = ReceivedUpload(submission, submission[0], f"bot-{submission}", submission * 32, 1)
        submissions.add_submission(engine, sent, SubmissionLimits())


def in_turn(waiting: list[Submission], turns: dict[str, float]) -> list[str]:
    """Return the IDs in the order in which the submissions are taken up."""
    order: list[str] = []
    while (chosen := next_of(waiting, turns)) is not None:
        turns[chosen.owner] = float(len(order) + 1)
        waiting.remove(chosen)
        order.append(chosen.id)
    return order


def test_owners_take_turns(engine: Engine) -> None:
    add_submissions(engine, "a1", "a2", "a3", "b1", "c1", "b2")
    assert in_turn(due(engine), {}) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_later_submission_precedes_the_second_of_another_owner(
    engine: Engine,
) -> None:
    add_submissions(engine, "a1", "a2", "b1")
    submissions.take_up(engine, "a1")
    submissions.step(engine, "a1", SubmissionStage.CHECKING)
    turns = last_turns(submissions.recent_runs(engine))
    chosen = next_of(due(engine)[1:], turns)
    assert chosen is not None
    assert chosen.id == "b1"
    assert next_of(due(engine)[1:], turns, busy={"a", "b"}) is None


def test_the_position_of_each_waiting_submission_is_known(engine: Engine) -> None:
    add_submissions(engine, "a1", "a2", "b1", "c1", "d1")
    assert positions(engine, builds=2)["a1"] == QueuePosition(0, None)
    submissions.take_up(engine, "a1")
    submissions.step(engine, "a1", SubmissionStage.CHECKING)
    submissions.take_up(engine, "b1")
    submissions.step(engine, "b1", SubmissionStage.CHECKING)
    submissions.decide(engine, "b1", SubmissionState.REFUSED, "no.", status=422)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE submissions SET ended = changed + 60 WHERE id = 'b1'")
    places = positions(engine, builds=2)
    assert {name: place.ahead for name, place in places.items()} == {"c1": 0, "d1": 2, "a2": 3}
    assert places["d1"].seconds == pytest.approx(60, abs=5)
    assert places["c1"].words == "next in turn"
    assert places["d1"].words.startswith("2 ahead of it, about ")

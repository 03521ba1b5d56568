"""Fixtures of the tests of the arena."""

from collections.abc import Iterator

import pytest

from arena.ladders import rater
from arena.web.data import snapshot


@pytest.fixture(scope="session", autouse=True)
def ladders_are_rated_at_once() -> Iterator[None]:
    """Rate with each snapshot, since no service does, and without a pause on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "RATE_AFTER_SECONDS", 0.0)
        patch.setattr(rater, "_SHORT_SECONDS", 60.0)
        yield

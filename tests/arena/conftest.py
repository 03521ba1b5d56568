"""Fixtures of the tests of the arena."""

from collections.abc import Iterator

import pytest

from arena.web.data import snapshot


@pytest.fixture(scope="session", autouse=True)
def ladders_are_rated_at_once() -> Iterator[None]:
    """Rate with each snapshot: no service of the tested arenas does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "RATE_AFTER_SECONDS", 0.0)
        yield

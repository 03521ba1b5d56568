"""For all tests: Hypothesis tries the same cases in every run, and no clock judges it."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "pokearena", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pokearena")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest goes first, so that no core waits for it alone at the end."""
    items.sort(key=lambda item: "test_everything_the_readme_shows" not in item.nodeid)

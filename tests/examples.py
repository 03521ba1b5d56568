"""Number of cases that tests try.

The quick suite tries fewer; scripts/release-check sets POKEARENA_EXAMPLES=300 and tries all.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

EXAMPLES = int(os.environ.get("POKEARENA_EXAMPLES", "10"))
"""Number of examples of Hypothesis."""
ALL = 300
"""The number from which on tests try all of their cases."""


def examples(most: int, quick: int | None = None) -> int:
    """Return a number of cases.

    Args:
        most: the number with POKEARENA_EXAMPLES=300.
        quick: the number in the quick suite; an eighth if None.
    """
    if EXAMPLES >= ALL:
        return most
    return max(1, most // 8) if quick is None else quick


def store_cases(cases: Iterable[Any], quick: int | None = None) -> pytest.MarkDecorator:
    """Parametrize `url` and `case`: every case on SQLite, and the first one on PostgreSQL too.

    Args:
        cases: the cases.
        quick: the number of cases in the quick suite; all if None.
    """
    listed = list(cases)
    on_sqlite = [
        pytest.param("sqlite", case, marks=[pytest.mark.long] * (quick is not None and n >= quick))
        for n, case in enumerate(listed)
    ]
    on_postgresql = [
        pytest.param(
            "postgresql", case, marks=[pytest.mark.long, *[pytest.mark.repetition] * (n > 0)]
        )
        for n, case in enumerate(listed)
    ]
    return pytest.mark.parametrize(("url", "case"), on_sqlite + on_postgresql, indirect=["url"])


def quick_cases(cases: Iterable[Any], quick: int) -> list[Any]:
    """Return the cases of a test, of which only the first `quick` ones are in the quick suite."""
    return [
        pytest.param(case, marks=[pytest.mark.long] * (number >= quick))
        for number, case in enumerate(cases)
    ]

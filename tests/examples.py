"""Number of cases that tests try.

The quick suite tries fewer; scripts/release-check sets POKEARENA_EXAMPLES=300 and tries all.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

EXAMPLES = int(os.environ.get("POKEARENA_EXAMPLES", "10"))
"""Number of examples of Hypothesis."""
_ALL = 300


def examples(most: int, quick: int | None = None) -> int:
    """Return a number of cases.

    Args:
        most: the number with POKEARENA_EXAMPLES=300.
        quick: the number in the quick suite; a third if None.
    """
    if EXAMPLES >= _ALL:
        return most
    return max(1, most // 3) if quick is None else quick


def quick_cases(cases: Iterable[Any], quick: int) -> list[Any]:
    """Return the cases of a test, of which only the first `quick` ones are in the quick suite."""
    return [
        pytest.param(case, marks=[pytest.mark.long] * (number >= quick))
        for number, case in enumerate(cases)
    ]

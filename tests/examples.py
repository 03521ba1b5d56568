"""Number of cases that tests of a property try.

The quick suite tries fewer; scripts/release-check sets POKEARENA_EXAMPLES=300 and tries all.
"""

import os

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

"""Types of command-line arguments of the measurements.

An invalid value ends a command with one sentence and status 2, before it measures anything.
"""

import argparse
import math
from collections.abc import Callable

HOUSE_BOTS = ("champion", "strong", "greedy", "bold", "meek", "random")
CHAMPION = "champion"


def at_least(minimum: int) -> Callable[[str], int]:
    """Return the type of an integer with a minimum."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not valid: use an integer of at least {minimum}"
            )
        return value

    return convert


def house_bot(text: str) -> str:
    """Check the name of a house bot; ``champion:4`` has four times the nodes."""
    name, colon, nodes = text.partition(":")
    if name not in HOUSE_BOTS:
        raise argparse.ArgumentTypeError(
            f"unknown bot {text!r}; the bots are {', '.join(HOUSE_BOTS)}"
        )
    if colon and (name != CHAMPION or not _positive(nodes)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not valid: only {CHAMPION} has a factor of its nodes, a positive number, "
            f"for example {CHAMPION}:4"
        )
    return text


def _positive(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False

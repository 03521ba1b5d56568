"""Numbers of games, decisions and seats in texts for people, which count from 1.

Records, the protocol, JSON, addresses, arguments of commands and ``MATCH:GAME:DECISION`` count from
0. So do the sentences of faults in records: they are converted when they are shown.
"""

import re
from typing import Any

_STORED = re.compile(r"\b(game )(\d{1,9})(, decision )(\d{1,9})\b")
_STORED_SEAT = re.compile(r"^((?:game \d{1,9}, decision \d{1,9}: )?seat )(\d{1,9})(?=: )")


def number_text(number: Any) -> str:
    """Return a number from 0 as people count it; a value of another type as it is.

    Records that are checked may contain anything.
    """
    return str(number + 1) if isinstance(number, int) else str(number)


def game_text(game: Any) -> str:
    """Return a game as people count it: ``game 1`` for 0."""
    return f"game {number_text(game)}"


def decision_text(game: Any, decision: Any) -> str:
    """Return a decision as people count it: ``game 1, decision 5`` for 0 and 4."""
    return f"{game_text(game)}, decision {number_text(decision)}"


def seat_text(seat: Any) -> str:
    """Return a seat as people count it: ``seat 1`` for 0."""
    return f"seat {number_text(seat)}"


def counted_from_one(sentence: str) -> str:
    """Return a stored sentence, such as that of a fault, with the numbers that people read."""
    seated = _STORED_SEAT.sub(lambda m: f"{m[1]}{int(m[2]) + 1}", sentence)
    return _STORED.sub(lambda m: f"{m[1]}{int(m[2]) + 1}{m[3]}{int(m[4]) + 1}", seated)

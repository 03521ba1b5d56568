"""Format counts and times, and parse seeds."""

import hashlib
import re
import secrets
from datetime import datetime
from typing import Final

# Times in local time.


def local_time(seconds: float | None) -> str:
    """Format a time in the local time zone."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


# Seeds as text.


_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
# The alphabet of match ids, without letters that are easily confused.
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def seed_of(text: str) -> bytes:
    """Return the 32 bytes of a seed: 64 hexadecimal digits, or else the SHA-256 of the text."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).digest()


def random_seed() -> str:
    """Return a random seed text, short enough to be typed again."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def count(number: int, singular: str, more: str = "") -> str:
    """Format a count: "1 match", "3 matches"; ``more`` is an irregular plural."""
    return f"{number} {singular if number == 1 else more or singular + 's'}"


def tournament_state(state: str, playing: bool) -> str:
    """Return the state to print: `waiting` if a running tournament is not being played."""
    return "waiting" if state == "running" and not playing else state

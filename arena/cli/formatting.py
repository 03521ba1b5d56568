"""Numbers with their nouns."""

import hashlib
import re
import secrets
from datetime import datetime
from typing import Final

# Times for people.


def local(seconds: float | None) -> str:
    """A time by the clock on the wall here."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


# Seeds as people write them.


_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
# As match ids have them: nothing that is misread.
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def seed_of(text: str) -> bytes:
    """The 32 bytes a text stands for: its 64 hexadecimal digits, or else its SHA-256."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).digest()


def fresh() -> str:
    """A text nobody has thought of, short enough to be typed again."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def many(number: int, one: str, more: str = "") -> str:
    """A number of things: "1 match", "3 matches"; ``more`` is the plural if it is no plain s."""
    return f"{number} {one if number == 1 else more or one + 's'}"

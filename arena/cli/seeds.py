"""Seeds as people write them."""

import hashlib
import re
import secrets
from typing import Final

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
# As match ids have them: nothing that is misread.
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def seed_of(text: str) -> bytes:
    """The 32 bytes a text stands for: its 64 hexadecimal digits, or else its SHA-256."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).digest()


def fresh() -> str:
    """A text nobody has thought of, short enough to be typed again."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))

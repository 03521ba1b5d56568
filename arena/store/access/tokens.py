"""Random tokens; the store contains only their hashes.

A plain SHA-256 is sufficient: a token has 32 random bytes, which cannot be guessed at any speed.
Slow hashes are for passwords that people choose.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

_BYTES: Final = 32


def new_token() -> str:
    """Return a random token of 43 characters that can be part of URLs and headers."""
    return secrets.token_urlsafe(_BYTES)


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

"""The type of all text columns: it stores any text of a bot or a request on every database."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

# PostgreSQL stores no NUL, and UTF-8 has no surrogates.
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    r"""Escape the characters that a database cannot store: NUL as \x00, surrogates as \ud800."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class StoredText(TypeDecorator[str]):
    """Text whose values are made `storable` before a statement writes or compares them."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Return the value to send to the database."""
        return storable(value) if isinstance(value, str) else value

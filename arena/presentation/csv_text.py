"""Tables as CSV that spreadsheets show as text and never calculate."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Final

from referee.sanitizing import one_line

BYTE_ORDER_MARK: Final = "\ufeff"
"""First character of CSV for spreadsheets, which otherwise do not read it as UTF-8."""
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV (RFC 4180), but with LF line ends.

    Text is on one line, without invisible characters. Text that a spreadsheet could read as a
    formula gets an apostrophe before it. Numbers are unchanged; None is empty.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([map(_cell, row) for row in rows])
    return text.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(_FORMULA_STARTS) else "") + one_line(value)

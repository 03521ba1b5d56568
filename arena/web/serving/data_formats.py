"""Pages as JSON, CSV, Markdown and plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from arena.presentation import wording
from arena.presentation.csv_text import csv_text
from arena.web.page import Page, TextTable
from referee.sanitizing import escaped_json


def written(page: Page, kind: str) -> str:
    """Return a page in one of its `offered` kinds except HTML and Atom."""
    if kind == "json":
        return as_json(page)
    table = page.csv if kind == "csv" else page.text
    assert table is not None
    if kind == "csv":
        return as_csv(table)
    return as_markdown(page.title, table) if kind == "md" else as_text(page.title, table)


def as_json(page: Page) -> str:
    """Return the page's data as JSON text."""
    data = page.data() if callable(page.data) else page.data
    return escaped_json(json.dumps(data, ensure_ascii=False, allow_nan=False)) + "\n"


def plain(page: Page) -> Any:
    """Return the page's data after a round trip through JSON."""
    return json.loads(as_json(page))


def as_csv(table: TextTable) -> str:
    headings = [heading.lstrip("<") for heading in table.headings]
    return csv_text([headings, *(map(_csv_value, row) for row in table.rows)])


def _csv_value(value: object) -> object:
    return wording.one_line(value) if isinstance(value, str) else value


def as_markdown(title: str, table: TextTable) -> str:
    """Return a table in GitHub Flavored Markdown."""
    heads = [heading.lstrip("<") for heading in table.headings]
    sides = [":--" if heading.startswith("<") else "--:" for heading in table.headings]
    lines = [heads, sides, *([_safe(cell) for cell in _cells(row)] for row in table.rows)]
    return f"## {_safe(wording.one_line(title))}\n\n" + "".join(
        f"| {' | '.join(line)} |\n" for line in lines
    )


def as_text(title: str, table: TextTable) -> str:
    """Return a table with aligned columns for a terminal."""
    rows = [[heading.lstrip("<") for heading in table.headings]]
    rows += [list(_cells(row)) for row in table.rows]
    lines = [wording.one_line(title), *_aligned(rows, [h.startswith("<") for h in table.headings])]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _cells(row: Sequence[object]) -> Iterator[str]:
    for value in row:
        yield "–" if value in (None, "") else wording.one_line(str(value))


def _safe(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        yield "  ".join(c.ljust(w) if side else c.rjust(w) for c, w, side in cells)

"""Columns of tables: each is described once, and every output derives from its entry.

Pages, JSON, CSV, Markdown, text, the terminal, pictures and the OpenAPI document render the lists
of columns in `ladder_columns`, `seat_advantage` and `adjusted_standings`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, Generic, TypeVar

from arena.presentation.wording import whole


class Rendering(Flag):
    """The renderings that show a column."""

    PAGE = auto()
    """The ladder page; `PAGE_ALL`: with all columns."""
    PAGE_ALL = auto()
    MODEL = auto()
    """The page of a ladder of the clock class `model`, besides `PAGE`."""
    TEXT = auto()
    """The ladder as Markdown and text, and in `watch`."""
    TERMINAL = auto()
    """The tables of commands; `LOS`: with the option `--los`."""
    LOS = auto()
    TOURNAMENT = auto()
    """The page of a tournament; `TOURNAMENT_ALL`: with all columns, and as text."""
    TOURNAMENT_ALL = auto()
    BOT = auto()
    """The versions of a bot, also in comparisons, and its ladders."""
    TOP = auto()
    """The first lines of a ladder: on the home page and in its picture."""
    PODIUM = auto()
    """The picture of a tournament."""
    LEGEND = auto()
    """The explanations below a table."""
    JSON = auto()
    """The JSON of pages."""
    RESULTS = auto()
    """The JSON of commands: values that equal tournaments have in common."""
    CSV = auto()
    DATA = JSON | RESULTS | CSV
    SITE = PAGE_ALL | TEXT | JSON | CSV
    """What only the pages of an arena know."""
    STANDINGS = TOURNAMENT | TOURNAMENT_ALL
    ALL = PAGE | PAGE_ALL | TEXT | TERMINAL | LOS | STANDINGS | BOT | DATA


Line = TypeVar("Line", contravariant=True)
"""The type of the lines of a table."""


def never(values: Sequence[object]) -> bool:
    """Never hide a column."""
    return False


def if_empty(values: Sequence[object]) -> bool:
    """Hide a column without any value."""
    return not any(values)


def if_equal(values: Sequence[object]) -> bool:
    """Hide a column whose values are all equal."""
    return not any(value != values[0] for value in values)


@dataclass(frozen=True, slots=True)
class Column(Generic[Line]):
    """A column of a table.

    Args:
        key: its name in JSON and CSV.
        title: its heading; lower case except for names.
        value: the value of a line for JSON; None: unknown.
        explanation: its meaning, as a phrase.
        text: the formatted value; the value itself, or a whole number, if omitted.
        csv: the headings in CSV, with the function that extracts each from the value; the key and
            the value if omitted.
        sort: its name in the query parameter `sort`; empty: tables cannot be sorted by it.
        order: the sort key of a line; its value if omitted. None is sorted last.
        is_falling: whether the default order is descending.
        is_left: whether it is aligned to the left.
        hidden: whether a table with these values omits it.
        shown: the renderings that show it.
        page_title: its heading on pages, where it may be longer; its title if empty.
    """

    key: str
    title: str
    value: Callable[[Line], Any]
    explanation: str
    text: Callable[[Line], str] | None = None
    csv: Mapping[str, Callable[[Any], object]] | None = None
    sort: str = ""
    order: Callable[[Line], Any] | None = None
    is_falling: bool = True
    is_left: bool = False
    hidden: Callable[[Sequence[object]], bool] = never
    shown: Rendering = Rendering.ALL
    page_title: str = ""

    @property
    def heading(self) -> str:
        """The title with a leading "<" if the column is aligned to the left."""
        return f"<{self.title}" if self.is_left else self.title

    def text_of(self, line: Line) -> str:
        """Return the formatted value; empty if it is unknown."""
        if self.text is not None:
            return self.text(line)
        value = self.value(line)
        return whole(value) if isinstance(value, int | float) else str(value or "")

    def order_of(self, line: Line) -> Any:
        """Return the sort key; None if it is unknown."""
        key = (self.order or self.value)(line)
        return None if key == "" else key

    def csv_of(self, line: Line) -> list[object]:
        """Return the values for CSV."""
        value = self.value(line)
        if self.csv is None:
            return [int(value) if isinstance(value, bool) else value]
        return [None if value is None else extract(value) for extract in self.csv.values()]


Columns = Sequence[Column[Line]]


def columns_of(
    columns: Columns[Line], rendering: Rendering, lines: Collection[Line] | None = None
) -> list[Column[Line]]:
    """Return the columns that a rendering of these lines shows; without lines, all of them."""
    return [
        column
        for column in columns
        if rendering & column.shown
        and (lines is None or not column.hidden([column.value(line) for line in lines]))
    ]


def text_table(
    columns: Columns[Line], lines: Iterable[Line]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings and the formatted values of all columns."""
    return (
        tuple(column.heading for column in columns),
        [tuple(column.text_of(line) or "–" for column in columns) for line in lines],
    )


def csv_table(
    columns: Columns[Line], lines: Iterable[Line]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return the headings and the values of all columns for CSV."""
    kept = columns_of(columns, Rendering.CSV)
    heads = [head for column in kept for head in (column.csv or (column.key,))]
    rows = [tuple(value for column in kept for value in column.csv_of(line)) for line in lines]
    return tuple(heads), rows


def to_json(
    columns: Columns[Line], line: Line, rendering: Rendering = Rendering.JSON
) -> dict[str, Any]:
    """Return a line as JSON values."""
    return {column.key: column.value(line) for column in columns_of(columns, rendering)}


def json_schema(columns: Columns[Line]) -> dict[str, Any]:
    """Return the JSON schema of a line."""
    kept = columns_of(columns, Rendering.JSON)
    return {
        "type": "object",
        "required": [column.key for column in kept],
        "properties": {column.key: {"description": column.explanation} for column in kept},
    }


def legend(columns: Columns[Line]) -> list[str]:
    """Return the explanations of columns that need one below their table."""
    return [
        f"{column.title}: {column.explanation}" for column in columns_of(columns, Rendering.LEGEND)
    ]

"""Merge the renderings of a game into spans, so that each unchanged part is stored once.

Most parts of a position equal those of the previous one. A frame sequence tracks every part through
all renderings, so that one page can hold all positions of a game and stay small.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Generic, TypeVar

from arena.presentation.elements import (
    Area,
    Badge,
    DominoLayout,
    GridPiece,
    SeatRendering,
    TableRendering,
    TrickCell,
    TrickTable,
)

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A value that is visible from one step to another, both included."""

    first: int
    last: int
    value: T


@dataclass(frozen=True, slots=True)
class GrowingTrickTable:
    """A trick table that is filled from the first trick of a deal to its last."""

    kind: ClassVar[str] = "growing"
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Span[TrickCell], ...], ...]], ...]
    """By seat: its name, and its contribution to each trick during the deal."""
    notes: tuple[Span[str], ...]


@dataclass(frozen=True, slots=True)
class TrackedArea:
    """A part of the table during the game."""

    kind: ClassVar[str] = "part"
    key: str
    spans: tuple[Span[Area | GrowingTrickTable], ...]


@dataclass(frozen=True, slots=True)
class TrackedLayout:
    """Pokino's layout during the game; its bounds include all its pieces."""

    kind: ClassVar[str] = "layout"
    key: str
    label: str
    pieces: tuple[Span[GridPiece], ...]
    words: tuple[Span[str], ...]
    bounds: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class SeatHeading:
    """The heading of a seat."""

    score: int
    acts: bool
    badges: tuple[Badge, ...]


@dataclass(frozen=True, slots=True)
class SeatFrames:
    """A seat during the game."""

    number: int
    name: str
    side: int
    heads: tuple[Span[SeatHeading], ...]
    parts: tuple[TrackedArea | TrackedLayout, ...]


@dataclass(frozen=True, slots=True)
class TableHeading:
    """The heading of the table."""

    heading: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrameSequence:
    """A game or a single position in the form in which it is rendered."""

    steps: int
    titles: tuple[Span[TableHeading], ...]
    places: tuple[SeatFrames, ...]
    centre: tuple[TrackedArea | TrackedLayout, ...]
    below: tuple[TrackedArea | TrackedLayout, ...]


def frame_sequence(renderings: Sequence[TableRendering]) -> FrameSequence:
    """Return the frame sequence of at least one rendering, all of the same game."""
    return FrameSequence(
        steps=len(renderings),
        titles=_spans(
            (n, TableHeading(rendering.heading, rendering.facts))
            for n, rendering in enumerate(renderings)
        ),
        places=tuple(
            _place([rendering.seats[seat] for rendering in renderings])
            for seat in range(len(renderings[0].seats))
        ),
        centre=_parts([rendering.centre for rendering in renderings]),
        below=_parts([rendering.below for rendering in renderings]),
    )


def _place(seats: Sequence[SeatRendering]) -> SeatFrames:
    heads = (SeatHeading(seat.score, seat.acts, seat.badges) for seat in seats)
    first = seats[0]
    return SeatFrames(
        first.number,
        first.name,
        first.side,
        _spans(enumerate(heads)),
        _parts([seat.areas for seat in seats]),
    )


def _parts(areas: Sequence[Sequence[Area]]) -> tuple[TrackedArea | TrackedLayout, ...]:
    """Return the parts in the order of their first appearance."""
    by_key: dict[str, list[tuple[int, Area]]] = {}
    for step, step_areas in enumerate(areas):
        for area in step_areas:
            by_key.setdefault(area.key, []).append((step, area))
    return tuple(_part(key, steps) for key, steps in by_key.items())


def _part(key: str, steps: list[tuple[int, Area]]) -> TrackedArea | TrackedLayout:
    boards = [(step, area) for step, area in steps if isinstance(area, DominoLayout)]
    return _layout(key, boards) if boards else TrackedArea(key, tuple(_stretches(steps)))


def _stretches(steps: Sequence[tuple[int, Area]]) -> Iterator[Span[Area | GrowingTrickTable]]:
    """Yield areas as spans of equal areas, and trick tables as spans in which they grow."""
    for is_sheet, group in groupby(steps, lambda step: isinstance(step[1], TrickTable)):
        stretch = list(group)
        tables = [
            (step, area) for step, area in stretch if isinstance(area, TrickTable) and area.heads
        ]
        if not is_sheet:
            for span in _spans(stretch):
                yield Span(span.first, span.last, span.value)
            continue
        for _, run in groupby(enumerate(tables), lambda item: item[1][0] - item[0]):
            yield _grown([table for _, table in run])


def _grown(tables: list[tuple[int, TrickTable]]) -> Span[Area | GrowingTrickTable]:
    """Merge the trick tables of one deal, one per step, into one."""
    (first, table), (last, full) = tables[0], tables[-1]
    if table == full:
        return Span(first, last, table)
    rows = tuple(
        (name, tuple(_cells(tables, row, column) for column in range(len(full.heads))))
        for row, (name, _) in enumerate(full.rows)
    )
    notes = _spans((step, table.note) for step, table in tables)
    return Span(first, last, GrowingTrickTable(full.label, full.heads, rows, notes))


def _cells(
    tables: list[tuple[int, TrickTable]], row: int, column: int
) -> tuple[Span[TrickCell], ...]:
    """Return a cell of a trick table during the deal, from the start of its trick."""
    return _spans(
        (step, table.rows[row][1][column]) for step, table in tables if column < len(table.heads)
    )


def _layout(key: str, boards: list[tuple[int, DominoLayout]]) -> TrackedLayout:
    bounds = [board.bounds for _, board in boards]
    return TrackedLayout(
        key,
        boards[0][1].label,
        _piece_spans({step: board.pieces for step, board in boards}),
        _spans((step, board.words) for step, board in boards),
        (
            min(left for left, _, _, _ in bounds),
            max(right for _, right, _, _ in bounds),
            min(top for _, _, top, _ in bounds),
            max(bottom for _, _, _, bottom in bounds),
        ),
    )


def _piece_spans(pieces: Mapping[int, Iterable[GridPiece]]) -> tuple[Span[GridPiece], ...]:
    """Return the span of each piece's presence, in the order of appearance."""
    spans: list[Span[GridPiece]] = []
    began: dict[GridPiece, int] = {}
    last = -1
    for step, step_pieces in sorted(pieces.items()):
        now = dict.fromkeys(step_pieces)
        gone = [piece for piece in began if piece not in now]
        spans += [Span(began.pop(piece), last, piece) for piece in gone]
        for piece in now:
            began.setdefault(piece, step)
        last = step
    spans += [Span(first, last, piece) for piece, first in began.items()]
    return tuple(sorted(spans, key=lambda span: (span.first, span.last)))


def _spans(steps: Iterable[tuple[int, T]]) -> tuple[Span[T], ...]:
    """Merge values by step into spans of equal values."""
    spans: list[Span[T]] = []
    for step, value in steps:
        if spans and spans[-1].last == step - 1 and spans[-1].value == value:
            spans[-1] = Span(spans[-1].first, step, value)
        else:
            spans.append(Span(step, step, value))
    return tuple(spans)

"""Frame sequences: the renderings of many positions, with each unchanged part stored once.

Most parts of a position equal those of the previous one. A frame sequence tracks every part through
all renderings, so that one page can hold all positions of a game and stay small.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import groupby
from typing import ClassVar, Generic, TypeVar

from referee.presentation.elements import (
    Area,
    Badge,
    CardGroup,
    CardLines,
    DominoLayout,
    GridPiece,
    Group,
    OpenCards,
    PrivateCards,
    ScoreTable,
    SeatRendering,
    TableRendering,
    TrickCell,
    TrickTable,
)

T = TypeVar("T", bound=Hashable)

_FEW_COLUMNS = 5
"""Largest number of columns of a trick table with large cards (class `big` of table.css)."""
_MAX_CARDS_PER_ROW = 12
"""Largest number of cards in a row that does not wrap (class `many` of table.css)."""


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A value that is visible from one step to another, both included."""

    first: int
    last: int
    value: T
    is_large: bool = False
    """Whether the value is among the largest of its place, which reserve space for the others."""


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
    squares: tuple[tuple[int, int], ...]
    """The squares with which a person selects actions at the last position."""


@dataclass(frozen=True, slots=True)
class SeatHeading:
    """The heading of a seat."""

    score: int
    is_to_act: bool
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
    zones: tuple[tuple[TrackedArea | TrackedLayout, ...], ...]
    """The parts of the centre, grouped: those of a zone are never visible together."""
    below: tuple[TrackedArea | TrackedLayout, ...]


def frame_sequence(renderings: Sequence[TableRendering]) -> FrameSequence:
    """Return the frame sequence of at least one rendering, all of the same game, by step."""
    numbered = list(enumerate(renderings))
    return FrameSequence(
        steps=len(renderings),
        titles=_spans((n, TableHeading(each.heading, each.facts)) for n, each in numbered),
        places=tuple(
            _place([(n, each.seats[seat]) for n, each in numbered])
            for seat in range(len(numbered[0][1].seats))
        ),
        zones=_zones(_parts([(n, each.centre) for n, each in numbered])),
        below=_parts([(n, each.below) for n, each in numbered]),
    )


def _place(seats: Sequence[tuple[int, SeatRendering]]) -> SeatFrames:
    heads = ((n, SeatHeading(seat.score, seat.is_to_act, seat.badges)) for n, seat in seats)
    _, first = seats[0]
    parts = _parts([(n, seat.areas) for n, seat in seats])
    return SeatFrames(
        first.number,
        first.name,
        first.side,
        _spans(heads),
        parts,
    )


def _parts(
    areas: Iterable[tuple[int, Sequence[Area]]],
) -> tuple[TrackedArea | TrackedLayout, ...]:
    """Return the parts in the order of their first appearance."""
    by_key: dict[str, list[tuple[int, Area]]] = {}
    for step, step_areas in areas:
        for area in step_areas:
            by_key.setdefault(area.key, []).append((step, area))
    return tuple(_part(key, steps) for key, steps in by_key.items())


def _zones(
    parts: Sequence[TrackedArea | TrackedLayout],
) -> tuple[tuple[TrackedArea | TrackedLayout, ...], ...]:
    """Assign each part to the first zone whose parts are never seen together with it.

    A layout is always visible, so it has a zone of its own.
    """
    zones: list[tuple[list[TrackedArea | TrackedLayout], set[int]]] = []
    for part in parts:
        seen = set() if isinstance(part, TrackedLayout) else _seen(part)
        for members, taken in zones:
            if seen and taken and taken.isdisjoint(seen):
                members.append(part)
                taken |= seen
                break
        else:
            zones.append(([part], seen))
    return tuple(tuple(members) for members, _ in zones)


def _seen(part: TrackedArea) -> set[int]:
    """Return the steps at which a part shows anything."""
    spans = (span for span in part.spans if not _is_blank(span.value))
    return {step for span in spans for step in range(span.first, span.last + 1)}


def _is_blank(area: Area | GrowingTrickTable) -> bool:
    match area:
        case OpenCards(held=held):
            return _is_bare(held)
        case PrivateCards(opened=opened, closed=closed):
            return _is_bare(closed) and (opened is None or _is_bare(opened))
        case CardLines(rows=rows, note=note):
            return not rows and not note
        case TrickTable(heads=heads) | GrowingTrickTable(heads=heads):
            return not heads
    return False


def _is_bare(group: Group) -> bool:
    cards = group.faces if isinstance(group, CardGroup) else group.tiles
    return not cards and not group.backs


def _part(key: str, steps: list[tuple[int, Area]]) -> TrackedArea | TrackedLayout:
    boards = [(step, area) for step, area in steps if isinstance(area, DominoLayout)]
    if not boards:
        return TrackedArea(key, _sized(tuple(_area_spans(steps))))
    # A board is scaled to its space, so it reserves none.
    return _layout(key, [(step, board) for step, board in boards if step >= 0] or boards)


def _area_spans(steps: Sequence[tuple[int, Area]]) -> Iterator[Span[Area | GrowingTrickTable]]:
    """Yield areas as spans of equal areas, and trick tables as spans in which they grow."""
    for is_trick_table, group in groupby(steps, lambda step: isinstance(step[1], TrickTable)):
        area_steps = list(group)
        tables = [
            (step, area) for step, area in area_steps if isinstance(area, TrickTable) and area.heads
        ]
        if not is_trick_table:
            for span in _spans(area_steps):
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
        boards[-1][1].squares,
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
    """Merge values by step into spans of equal values, the largest of them marked."""
    spans: list[Span[T]] = []
    for step, value in steps:
        if spans and spans[-1].last == step - 1 and spans[-1].value == value:
            spans[-1] = Span(spans[-1].first, step, value)
        else:
            spans.append(Span(step, step, value))
    return _sized(tuple(spans))


def _sized(spans: tuple[Span[T], ...]) -> tuple[Span[T], ...]:
    """Mark the largest values by each measure of their size.

    A page reserves space for the marked values only. It lays out a tenth of the elements that it
    would lay out if it reserved space for all of them.
    """
    by_measure: dict[str, list[tuple[int, int]]] = {}
    for number, span in enumerate(spans):
        for measure, size in _sizes(span.value).items():
            by_measure.setdefault(measure, []).append((-size, number))
    marked = {
        number
        for measure, sizes in by_measure.items()
        # Texts of equal length can have different widths.
        for size, number in nsmallest(2 if measure.endswith("text") else 1, sizes)
        if size
    }
    return tuple(
        replace(span, is_large=number in marked) if span.is_large != (number in marked) else span
        for number, span in enumerate(spans)
    )


def _sizes(value: object) -> dict[str, int]:
    """Return measures of the space that a value takes."""
    match value:
        case str():
            return {"text": len(value)}
        case TableHeading(heading, facts):
            return {"text": len(heading), "more text": sum(map(len, facts))}
        case SeatHeading(score, is_to_act, badges):
            # They share a line until it is full. Digits of a score are large.
            texts = ["to act"] * is_to_act + [badge.text for badge in badges]
            words = sum(len(text) + 3 for text in texts)
            return {"badges": len(texts), "text": 2 * len(str(score)) + words}
        case TrickCell(cards=cards):
            return _group_sizes("cards", cards)
        case OpenCards(held=held):
            return _group_sizes("cards", held)
        case PrivateCards(opened=opened, closed=closed):
            return _group_sizes("closed", closed) | _group_sizes("opened", opened or closed)
        case CardLines(rows=rows, note=note):
            return {
                "cards": sum(_width(cards) for _, cards in rows),
                "rows": len(rows),
                "text": len(note),
                "more text": sum(len(label) for label, _ in rows),
            }
        case TrickTable(heads=heads, note=note):
            return _table_sizes(len(heads), len(note))
        case GrowingTrickTable(heads=heads, notes=notes):
            return _table_sizes(len(heads), max(len(note.value) for note in notes))
        case ScoreTable(rows=rows):
            return {"rows": len(rows)}
    return {}


def _table_sizes(columns: int, note: int) -> dict[str, int]:
    """Return the measures of a trick table; one with few columns can be higher than a wide one."""
    kind = "few columns" if columns <= _FEW_COLUMNS else "columns"
    return {kind: columns, f"{kind} text": note}


def _group_sizes(name: str, group: Group) -> dict[str, int]:
    """Return the measures of a group; a row of at most 12 cards can be wider than one of 13."""
    shown = group.faces if isinstance(group, CardGroup) else group.tiles
    is_many = len(shown) + group.backs > _MAX_CARDS_PER_ROW
    return {f"{name} wrapped" if is_many else name: _width(group), f"{name} text": len(group.note)}


def _width(group: Group) -> int:
    """Return about the width of a group, in backs of cards."""
    shown = group.faces if isinstance(group, CardGroup) else group.tiles
    return 3 * len(shown) + group.backs

"""Merge the scenes of a game into spans, so that each unchanged part is stored once.

Most parts of a position equal those of the previous one. A film tracks every part from scene to
scene, so that one page can hold all positions of a game and stay small.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Generic, TypeVar

from arena.presentation.elements import Area, Badge, Board, Cell, Piece, Scene, Seat, Sheet

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A value that is visible from one step to another, both included."""

    first: int
    last: int
    value: T


@dataclass(frozen=True, slots=True)
class Growing:
    """A sheet of tricks that is filled from the first trick of a deal to its last."""

    kind: ClassVar[str] = "growing"
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Span[Cell], ...], ...]], ...]
    """By seat: its name, and its contribution to each trick during the deal."""
    notes: tuple[Span[str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the table during the game."""

    kind: ClassVar[str] = "part"
    key: str
    spans: tuple[Span[Area | Growing], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Pokino's layout during the game; its bounds include all its pieces."""

    kind: ClassVar[str] = "layout"
    key: str
    label: str
    pieces: tuple[Span[Piece], ...]
    words: tuple[Span[str], ...]
    bounds: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a seat."""

    score: int
    acts: bool
    badges: tuple[Badge, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A seat during the game."""

    number: int
    name: str
    side: int
    heads: tuple[Span[Head], ...]
    parts: tuple[Part | Layout, ...]


@dataclass(frozen=True, slots=True)
class Title:
    """The heading of the table."""

    heading: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Film:
    """A game or a single position in the form in which it is rendered."""

    steps: int
    titles: tuple[Span[Title], ...]
    places: tuple[Place, ...]
    centre: tuple[Part | Layout, ...]
    below: tuple[Part | Layout, ...]


def film(scenes: Sequence[Scene]) -> Film:
    """Return the film of at least one scene, all of the same game."""
    return Film(
        steps=len(scenes),
        titles=_spans((n, Title(scene.heading, scene.facts)) for n, scene in enumerate(scenes)),
        places=tuple(
            _place([scene.seats[seat] for scene in scenes]) for seat in range(len(scenes[0].seats))
        ),
        centre=_parts([scene.centre for scene in scenes]),
        below=_parts([scene.below for scene in scenes]),
    )


def _place(seats: Sequence[Seat]) -> Place:
    heads = (Head(seat.score, seat.acts, seat.badges) for seat in seats)
    first = seats[0]
    return Place(
        first.number,
        first.name,
        first.side,
        _spans(enumerate(heads)),
        _parts([seat.areas for seat in seats]),
    )


def _parts(areas: Sequence[Sequence[Area]]) -> tuple[Part | Layout, ...]:
    """Return the parts in the order of their first appearance."""
    found: dict[str, list[tuple[int, Area]]] = {}
    for step, here in enumerate(areas):
        for area in here:
            found.setdefault(area.key, []).append((step, area))
    return tuple(_part(key, told) for key, told in found.items())


def _part(key: str, told: list[tuple[int, Area]]) -> Part | Layout:
    boards = [(step, area) for step, area in told if isinstance(area, Board)]
    return _layout(key, boards) if boards else Part(key, tuple(_stretches(told)))


def _stretches(told: Sequence[tuple[int, Area]]) -> Iterator[Span[Area | Growing]]:
    """Yield areas as spans in which they are equal, and sheets as spans in which they grow."""
    for is_sheet, group in groupby(told, lambda one: isinstance(one[1], Sheet)):
        here = list(group)
        sheets = [(step, area) for step, area in here if isinstance(area, Sheet) and area.heads]
        if not is_sheet:
            for span in _spans(here):
                yield Span(span.first, span.last, span.value)
            continue
        for _, run in groupby(enumerate(sheets), lambda one: one[1][0] - one[0]):
            yield _grown([sheet for _, sheet in run])


def _grown(sheets: list[tuple[int, Sheet]]) -> Span[Area | Growing]:
    """Merge the sheets of one deal, one per step, into one growing sheet."""
    (first, sheet), (last, full) = sheets[0], sheets[-1]
    if sheet == full:
        return Span(first, last, sheet)
    rows = tuple(
        (name, tuple(_cells(sheets, row, column) for column in range(len(full.heads))))
        for row, (name, _) in enumerate(full.rows)
    )
    notes = _spans((step, one.note) for step, one in sheets)
    return Span(first, last, Growing(full.label, full.heads, rows, notes))


def _cells(sheets: list[tuple[int, Sheet]], row: int, column: int) -> tuple[Span[Cell], ...]:
    """Return a cell of a sheet during the deal, from the start of its trick."""
    return _spans(
        (step, sheet.rows[row][1][column]) for step, sheet in sheets if column < len(sheet.heads)
    )


def _layout(key: str, boards: list[tuple[int, Board]]) -> Layout:
    bounds = [board.bounds for _, board in boards]
    return Layout(
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


def _piece_spans(pieces: Mapping[int, Iterable[Piece]]) -> tuple[Span[Piece], ...]:
    """Return the span of each piece's presence, in the order of appearance."""
    found: list[Span[Piece]] = []
    began: dict[Piece, int] = {}
    last = -1
    for step, here in sorted(pieces.items()):
        now = dict.fromkeys(here)
        gone = [piece for piece in began if piece not in now]
        found += [Span(began.pop(piece), last, piece) for piece in gone]
        for piece in now:
            began.setdefault(piece, step)
        last = step
    found += [Span(first, last, piece) for piece, first in began.items()]
    return tuple(sorted(found, key=lambda span: (span.first, span.last)))


def _spans(told: Iterable[tuple[int, T]]) -> tuple[Span[T], ...]:
    """Merge values by step into spans of equal values."""
    spans: list[Span[T]] = []
    for step, value in told:
        if spans and spans[-1].last == step - 1 and spans[-1].value == value:
            spans[-1] = Span(spans[-1].first, step, value)
        else:
            spans.append(Span(step, step, value))
    return tuple(spans)

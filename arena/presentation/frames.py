"""The scenes of a whole game, one after the other, each part told once for as long as it stays.

Most of a position is what it was before. A film follows every part from scene to scene, so that
one page can hold all positions of a game and stay small.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Generic, TypeVar

from arena.presentation.elements import Area, Badge, Board, Cell, Piece, Scene, Seat, Sheet

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """Something that is to be seen from one step to another, both included."""

    first: int
    last: int
    value: T


@dataclass(frozen=True, slots=True)
class Growing:
    """A sheet of tricks that is filled in, from the first trick of a deal to its last."""

    kind: ClassVar[str] = "growing"
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Span[Cell], ...], ...]], ...]
    """By seat: its name, and what it gave to each trick through the deal."""
    notes: tuple[Span[str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the table through the game."""

    kind: ClassVar[str] = "part"
    key: str
    spans: tuple[Span[Area | Growing], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Pokino's layout through the game; its bounds are those of all it ever was."""

    kind: ClassVar[str] = "layout"
    key: str
    label: str
    pieces: tuple[Span[Piece], ...]
    words: tuple[Span[str], ...]
    bounds: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above a seat's cards."""

    score: int
    acts: bool
    badges: tuple[Badge, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A seat through the game."""

    number: int
    name: str
    side: int
    heads: tuple[Span[Head], ...]
    parts: tuple[Part | Layout, ...]


@dataclass(frozen=True, slots=True)
class Title:
    """What stands above the table."""

    heading: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Film:
    """A game, or a single position, to be drawn."""

    steps: int
    titles: tuple[Span[Title], ...]
    places: tuple[Place, ...]
    centre: tuple[Part | Layout, ...]
    below: tuple[Part | Layout, ...]


def film(scenes: Sequence[Scene]) -> Film:
    """The film of one scene or more, all of one game."""
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
    """The parts, in the order in which they first appear."""
    found: dict[str, list[tuple[int, Area]]] = {}
    for step, here in enumerate(areas):
        for area in here:
            found.setdefault(area.key, []).append((step, area))
    return tuple(_part(key, told) for key, told in found.items())


def _part(key: str, told: list[tuple[int, Area]]) -> Part | Layout:
    boards = [(step, area) for step, area in told if isinstance(area, Board)]
    return _layout(key, boards) if boards else Part(key, tuple(_stretches(told)))


def _stretches(told: Sequence[tuple[int, Area]]) -> Iterator[Span[Area | Growing]]:
    """Areas as the stretches in which they are the same; sheets as those in which they grow."""
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
    """Sheets of one deal, a step each, as one that grows."""
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
    """A place of a sheet through the deal, from when its trick begins."""
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
    """Each piece from where it appears to where it is gone, in the order of appearance."""
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
    """Values by step, as the stretches in which they are the same."""
    spans: list[Span[T]] = []
    for step, value in told:
        if spans and spans[-1].last == step - 1 and spans[-1].value == value:
            spans[-1] = Span(spans[-1].first, step, value)
        else:
            spans.append(Span(step, step, value))
    return tuple(spans)

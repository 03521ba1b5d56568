"""Convert a recorded game into a frame sequence: spans that store each unchanged part once.

Most parts of a position equal those of the previous one. A frame sequence tracks every part through
all renderings, so that one page can hold all positions of a game and stay small.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import groupby
from typing import Any, ClassVar, Generic, TypeVar

from arena.presentation.elements import (
    Area,
    Badge,
    CardGroup,
    CardLines,
    DominoLayout,
    GridPiece,
    Group,
    OpenCards,
    Players,
    PrivateCards,
    ScoreTable,
    SeatRendering,
    TableRendering,
    TrickCell,
    TrickTable,
)
from arena.presentation.narration import seat_names
from arena.presentation.registry import presentation_of
from referee.game_codec import DecodeError
from referee.games.contract import Game
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import ReplayStep, codec_of, in_words, steps

T = TypeVar("T", bound=Hashable)


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

    @property
    def zones(self) -> tuple[tuple[TrackedArea | TrackedLayout, ...], ...]:
        """The parts of the centre, grouped: those of a zone are never visible together."""
        return _zones(self.centre)


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


def _zones(
    parts: Sequence[TrackedArea | TrackedLayout],
) -> tuple[tuple[TrackedArea | TrackedLayout, ...], ...]:
    """Assign each part to the first zone whose parts are never seen together with it."""
    zones: list[tuple[list[TrackedArea | TrackedLayout], set[int]]] = []
    for part in parts:
        seen = _seen(part)
        for members, taken in zones:
            if seen and taken.isdisjoint(seen):
                members.append(part)
                taken |= seen
                break
        else:
            zones.append(([part], seen))
    return tuple(tuple(members) for members, _ in zones)


def _seen(part: TrackedArea | TrackedLayout) -> set[int]:
    """Return the steps at which a part shows anything; all steps for a layout."""
    if isinstance(part, TrackedLayout):
        return set(range(part.words[0].first, part.words[-1].last + 1))
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
    return _layout(key, boards) if boards else TrackedArea(key, _sized(tuple(_stretches(steps))))


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
        case SeatHeading(score, acts, badges):
            # They share a line until it is full. Digits of a score are large.
            texts = ["to act"] * acts + [badge.text for badge in badges]
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
            return {"columns": len(heads), "text": len(note)}
        case GrowingTrickTable(heads=heads, notes=notes):
            return {"columns": len(heads), "text": max(len(note.value) for note in notes)}
        case ScoreTable(rows=rows):
            return {"rows": len(rows)}
    return {}


_MANY = 12
"""Largest number of cards in a row that does not wrap (class `many` of scene.css)."""


def _group_sizes(name: str, group: Group) -> dict[str, int]:
    """Return the measures of a group; a row of at most 12 cards can be wider than one of 13."""
    shown = group.faces if isinstance(group, CardGroup) else group.tiles
    is_many = len(shown) + group.backs > _MANY
    return {f"{name} wrapped" if is_many else name: _width(group), f"{name} text": len(group.note)}


def _width(group: Group) -> int:
    """Return about the width of a group, in backs of cards."""
    shown = group.faces if isinstance(group, CardGroup) else group.tiles
    return 3 * len(shown) + group.backs


# Convert a recorded game into a frame sequence, with the actions between its positions.


def phrase(game: Game, action: dict[str, Any]) -> str:
    """Return an action in the protocol's JSON form as a phrase in the third person.

    An action that cannot be decoded is returned as JSON.
    """
    try:
        decoded = codec_of(game).decode_json(action)
    except DecodeError:
        return in_words(game, action)
    return presentation_of(game.id).phrase(decoded)


def public_phrase(game: Game, action: dict[str, Any]) -> str:
    """Return the public part of an action with hidden cards; "" if all of it is public."""
    try:
        decoded = codec_of(game).decode_json(action)
    except DecodeError:
        return ""
    return presentation_of(game.id).public_phrase(decoded)


@dataclass(frozen=True, slots=True)
class ReplayAction:
    """An action in a recorded game."""

    decision: int
    seat: int
    name: str
    words: str
    """The action as a phrase: "leads 4C 4H"."""
    outside: str
    """The public part of the action; empty if all of it is public."""
    ms: float
    note: str
    """The bot's note on the action, verbatim."""
    by_referee: bool


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A seat that was excluded from the game, with the reason."""

    seat: int
    name: str
    verdict: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """A position: its step from 0, and the actions and faults that led to it."""

    step: int
    acts: tuple[ReplayAction, ...]
    stops: tuple[Exclusion, ...]
    chapter: int
    begins: bool
    """Whether a deal or round begins with this position."""
    is_notable: bool = False
    """Whether an action that led to it is one that spectators look for: a run in Pokino."""

    @property
    def is_event(self) -> bool:
        """Whether a fast playback stops here."""
        return self.begins or self.is_notable or bool(self.stops)


@dataclass(frozen=True, slots=True)
class RecordedFrames:
    """A game from the deal to its end."""

    film: FrameSequence
    moments: tuple[ReplayPosition, ...]
    names: tuple[str, ...]


def recorded_frames(match: Line, game: GameRecord, seed: bytes) -> RecordedFrames:
    """Return the frame sequence of a recorded game with all hands open.

    Args:
        match: the record's match line.
        game: the game.
        seed: the seed of the match, 32 bytes.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    rendered = tuple(rendered_steps(match, game, seed))
    all_steps, renderings = zip(*rendered, strict=True)
    names = tuple(seat_names(game))
    return RecordedFrames(
        frame_sequence(renderings),
        tuple(_moments(find(match["game"]), game, all_steps, renderings, names)),
        names,
    )


def rendered_steps(
    match: Line, game: GameRecord, seed: bytes
) -> Iterator[tuple[ReplayStep, TableRendering]]:
    """Yield the positions of a recorded game with their renderings, all hands open.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    rules = find(match["game"])
    names = tuple(seat_names(game))
    sides = rules.sides(match["seats"], rules.settle(match["options"]))
    for step in steps(match, game, seed):
        state = step.state
        hands = {seat: state.view(seat) for seat in range(len(names))}
        table = Players(names, sides, state.scores, state.actors)
        yield step, presentation_of(rules.id).render(state.public(), hands, table)


def _moments(
    rules: Game,
    game: GameRecord,
    all_steps: Sequence[ReplayStep],
    renderings: Sequence[TableRendering],
    names: tuple[str, ...],
) -> Iterator[ReplayPosition]:
    stops = _exclusions(game, all_steps, names)
    acts: tuple[ReplayAction, ...] = ()
    chapter, is_notable = -1, False
    for number, (step, rendering) in enumerate(zip(all_steps, renderings, strict=True)):
        begins = rendering.chapter != chapter
        yield ReplayPosition(
            number, acts, stops.get(number, ()), rendering.chapter, begins, is_notable
        )
        chapter = rendering.chapter
        is_notable = any(_is_notable(rules, line["action"]) for line in step.lines)
        acts = tuple(_act(rules, line, names) for line in step.lines)


def _is_notable(rules: Game, action: dict[str, Any]) -> bool:
    try:
        decoded = codec_of(rules).decode_json(action)
    except DecodeError:
        return False
    return presentation_of(rules.id).is_notable(decoded)


def _act(rules: Game, line: Line, names: tuple[str, ...]) -> ReplayAction:
    return ReplayAction(
        decision=line["decision"],
        seat=line["seat"],
        name=names[line["seat"]],
        words=phrase(rules, line["action"]),
        outside=public_phrase(rules, line["action"]),
        ms=float(line["ms"]),
        note=str(line.get("note", "")),
        by_referee=line.get("by") == "referee",
    )


def _exclusions(
    game: GameRecord, all_steps: Sequence[ReplayStep], names: tuple[str, ...]
) -> Mapping[int, tuple[Exclusion, ...]]:
    """Return the excluded seats, by the step of the decision at which each one faulted."""
    exclusions: dict[int, tuple[Exclusion, ...]] = {}
    for fault in game.faults:
        earlier = [n for n, step in enumerate(all_steps) if step.decision <= fault["decision"]]
        at = earlier[-1] if earlier else 0
        seat = fault["seat"]
        stop = Exclusion(seat, names[seat], str(fault["verdict"]), str(fault["sentence"]))
        exclusions[at] = (*exclusions.get(at, ()), stop)
    return exclusions

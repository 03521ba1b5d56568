"""Draw a position as SVG: the seats round the table, and what lies between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from arena.web.pictures import boxes
from arena.web.pictures.boxes import EMPTY, Box
from arena.web.serving.html_pages import environment
from referee.presentation.elements import (
    FRESH,
    GONE,
    KNOWN,
    POINT,
    WILD,
    WON,
    Area,
    CardGroup,
    CardLines,
    DominoLayout,
    FaceUpCard,
    GridPiece,
    Group,
    OpenCards,
    PrivateCards,
    SeatRendering,
    TableRendering,
    TrickCell,
    TrickTable,
)

CHALK, DIM, FRESH_COLOR, BACK = "#f3f7f2", "#d3e4da", "#ffd54a", "#27406f"
CARD, EDGE, FELT = "#fffefa", "#b9b6aa", "#1d5b47"
RED = "#d22f27"
SEATS = ("#1f5fae", "#b4431f", "#6b3fa0", "#8a6100", "#0d6f73", "#a32a66")
_SUITS = {"S": "#1b2130", "H": "#c3191d", "D": "#1556bd", "C": "#127038", "X": "#7a2aa0"}
_NUMBERS = (
    "#575b66 #0b6fa8 #0d7a3d #c21f2c #7b4a12 #2649c4 #7d5c00 #a8237f #056b64 #6a35b8 #ad4200 "
    "#44535f #16181d"
).split()
_WIDTH, _HEIGHT, _PEEK = 46.0, 64.0, 20.0
"""Size of a card in pixels, and the part of a covered card that stays visible."""
_SQUARE = 40.0
_LAYOUT_HEIGHT = 420.0
_GAP = 14.0
_SMALL, _NORMAL = 14.0, 16.0

Opened = Callable[[int], bool]
"""Returns whether the hidden cards of a seat are shown."""


@cache
def symbols() -> str:
    """Return the shapes of the cards, those that the pages show too, as symbols."""
    sprite = environment().get_template("table/cards.html").render()
    return "".join(re.findall(r"<symbol.*?</symbol>", sprite, re.DOTALL))


@dataclass(frozen=True, slots=True)
class TableZones:
    """Heights of the zones of a table, in pixels; they stay equal during an animation."""

    title: float = 0.0
    above: float = 0.0
    middle: float = 0.0
    under: float = 0.0

    def widened(self, other: TableZones) -> TableZones:
        """Return the heights in which both fit."""
        return TableZones(
            max(self.title, other.title),
            max(self.above, other.above),
            max(self.middle, other.middle),
            max(self.under, other.under),
        )

    @property
    def height(self) -> float:
        return self.title + self.above + self.middle + self.under + 5 * _GAP


def zones(rendering: TableRendering, width: float, opened: Opened) -> TableZones:
    """Return the heights that the zones of a position need at a width."""
    parts = _parts(rendering, width, opened, TableZones())
    return TableZones(*(box.height for box in parts))


def table(rendering: TableRendering, width: float, opened: Opened, heights: TableZones) -> Box:
    """Return the table at a position.

    Args:
        opened: whether the hidden cards of a seat are shown.
        heights: the minimum heights of the zones.
    """
    parts = _parts(rendering, width, opened, heights)
    at = TableZones(*(box.height for box in parts)).widened(heights)
    title, above, middle, under = parts
    y = _GAP
    svg = ""
    for box, height in zip(
        (title, above, middle, under), (at.title, at.above, at.middle, at.under), strict=True
    ):
        svg += box.at(_GAP, y + (height - box.height) / 2)
        y += height + _GAP
    return Box(width, at.height, svg)


def _parts(
    rendering: TableRendering, width: float, opened: Opened, heights: TableZones
) -> tuple[Box, Box, Box, Box]:
    inner = width - 2 * _GAP
    seats = rendering.seats
    number = len(seats)
    first_row = number - 1 if number < 4 else number // 2 if number != 5 else 3
    above = seats[1 : first_row + 1]
    under = (seats[0], *reversed(seats[first_row + 1 :]))
    heading = boxes.column(
        [
            boxes.text_box(rendering.heading, 22, CHALK, bold=True, width=inner),
            boxes.paragraph(" · ".join(rendering.facts), _NORMAL, DIM, inner),
        ]
    )
    centre = [_area(area, inner, opened) for area in rendering.centre]
    return (
        heading,
        _seats(above, inner, opened, heights.above),
        boxes.flow(centre, inner, 2 * _GAP, _GAP, middle=True),
        _seats(under, inner, opened, heights.under),
    )


def _seats(seats: Sequence[SeatRendering], width: float, opened: Opened, least: float) -> Box:
    if not seats:
        return EMPTY
    each = (width - (len(seats) - 1) * _GAP) / len(seats)
    contents = [_seat(seat, each - 2 * _GAP, opened) for seat in seats]
    height = max(least, *(content.height + _GAP for content in contents))
    panels = [
        boxes.panel(
            content,
            each,
            height,
            padding=_GAP / 2,
            style='fill="#000" fill-opacity=".2"'
            + (f' stroke="{CHALK}" stroke-width="3"' if seat.is_to_act else ""),
        )
        for seat, content in zip(seats, contents, strict=True)
    ]
    return boxes.row(panels, _GAP)


def _seat(seat: SeatRendering, width: float, opened: Opened) -> Box:
    score = boxes.text_box(str(seat.score).replace("-", "−"), 24, CHALK, bold=True)
    dot = Box(
        24,
        24,
        f'<circle cx="12" cy="13" r="11" fill="{SEATS[seat.number % len(SEATS)]}"/>'
        f'<text x="12" y="18" font-size="15" font-weight="700" fill="#fff" '
        f'text-anchor="middle">{seat.number + 1}</text>',
    )
    badges = [("to act", "turn")] * seat.is_to_act + [
        (badge.text, badge.tone) for badge in seat.badges
    ]
    name = boxes.text_box(seat.name, 19, CHALK, bold=True, width=width - score.width - 40)
    head = boxes.flow(
        [boxes.row([dot, name], 7), *(_badge(*badge, width) for badge in badges)],
        width - score.width - 8,
        8,
        4,
    )
    head = Box(width, head.height + 2, head.svg + score.at(width - score.width, -3))
    parts = [_area(area, width, opened) for area in seat.areas]
    return boxes.column([head, boxes.flow(parts, width, _GAP, 4)], 4)


def _badge(text: str, tone: str, width: float) -> Box:
    fill, color = {
        "turn": (CHALK, "#14301f"),
        "good": ("#d9f2d0", "#14401c"),
        "bad": ("#ffd9cf", "#6d1b06"),
    }.get(tone, ("#ffffff26", CHALK))
    words = boxes.text_box(text, _SMALL, color, width=width - 16)
    return Box(
        words.width + 16,
        22,
        f'<rect width="{words.width + 16:.1f}" height="21" rx="10" fill="{fill}"/>'
        + words.at(8, 1),
    )


def _area(area: Area, width: float, opened: Opened) -> Box:
    match area:
        case OpenCards(label=label, held=held):
            return _labelled(label, _group(held, width), width)
        case PrivateCards(label=label, seat=seat, opened=hand, closed=closed):
            shown = hand if hand is not None and opened(seat) else closed
            return _labelled(label, _group(shown, width), width)
        case CardLines(label=label, rows=rows, note=note):
            lines = [
                boxes.row(
                    [_line(name, DIM, width / 3), _group(cards, width * 2 / 3 if name else width)],
                    8,
                    centred=True,
                )
                for name, cards in rows
            ]
            return _labelled(
                label, boxes.column([boxes.flow(lines, width, _GAP, 2), _note(note, width)]), width
            )
        case TrickTable():
            return _tricks(area, width)
        case DominoLayout():
            return _layout(area, width)
    # Score tables repeat the scores of the seats.
    return EMPTY


def _line(text: str, color: str, width: float) -> Box:
    return boxes.text_box(text, _SMALL, color, width=width) if text else EMPTY


def _note(text: str, width: float) -> Box:
    return boxes.paragraph(text, _SMALL, CHALK, width) if text else EMPTY


def _labelled(label: str, content: Box, width: float) -> Box:
    if not content.svg:
        return EMPTY
    return boxes.column([_line(label, DIM, width), content], 1)


def _group(held: Group, width: float) -> Box:
    if isinstance(held, CardGroup):
        shown = _cards([*map(_card, held.faces), *[_back()] * held.backs], width)
    else:
        tiles = [_domino(*map(int, str(tile).split("-"))) for tile in held.tiles]
        shown = boxes.flow([*tiles, *[_domino_back()] * held.backs], width, 5, 5)
    return boxes.column([shown, _note(held.note, width)], 2)


def _cards(cards: Sequence[Box], width: float) -> Box:
    """Return cards beside each other; they overlap as far as they must, then need more lines."""
    if not cards:
        return EMPTY
    per_line = max(int((width - _WIDTH) / _PEEK) + 1, 1)
    lines = [cards[at : at + per_line] for at in range(0, len(cards), per_line)]
    longest = len(lines[0])
    step = min(_WIDTH + 4, (width - _WIDTH) / (longest - 1)) if longest > 1 else 0
    return boxes.column(
        (
            Box(
                _WIDTH + step * (len(line) - 1),
                _HEIGHT + 6,
                "".join(card.at(at * step, 5) for at, card in enumerate(line)),
            )
            for line in lines
        ),
        2,
    )


def _card(face: FaceUpCard) -> Box:
    name, marks = str(face.card), face.marks
    suit = "X" if name[0] == "X" else name[1]
    fill = "#ffe9a8" if WILD in marks or POINT in marks else CARD
    edge, thick = EDGE, 1
    if WON in marks:
        edge, thick = "#2f8f3c", 3
    if FRESH in marks:
        edge, thick = FRESH_COLOR, 3
    shape = name[0] if name[0] in "JQK" else "a" if name[0] == "A" else "c"
    rank = "" if suit == "X" else "10" if name[0] == "T" else name[0]
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    group = f'color="{_SUITS[suit]}" fill="{_SUITS[suit]}" opacity="{0.55 if GONE in marks else 1}"'
    parts = [
        f'<rect {size} rx="5" fill="{fill}" stroke="{edge}" stroke-width="{thick}"/>',
        f'<text x="4" y="19" font-size="21" font-weight="700" letter-spacing="-1">{rank}</text>',
        f'<use href="#{shape}-{suit}" {size}/>',
    ]
    if KNOWN in marks:
        parts.append(f'<rect y="{_HEIGHT - 4}" width="{_WIDTH}" height="4" fill="#6fb7ff"/>')
    lift = -4 if FRESH in marks else 0
    svg = f'<g {group} transform="translate(0 {lift})">{"".join(parts)}</g>'
    return Box(_WIDTH, _HEIGHT, svg)


def _back() -> Box:
    return Box(
        _WIDTH,
        _HEIGHT,
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="{BACK}" stroke="#dfe5f2" '
        'stroke-width="2"/>'
        f'<rect x="7" y="7" width="{_WIDTH - 14}" height="{_HEIGHT - 14}" rx="3" fill="none" '
        'stroke="#fff" stroke-opacity=".35" stroke-width="2"/>',
    )


def _domino(low: int, high: int) -> Box:
    svg = f'<rect width="58" height="30" rx="5" fill="{CARD}" stroke="{EDGE}"/>'
    svg += f'<path d="M29 5v20" stroke="{EDGE}"/>'
    for x, number in ((14.5, low), (43.5, high)):
        svg += (
            f'<text x="{x}" y="21" font-size="17" text-anchor="middle" '
            f'fill="{_NUMBERS[number % len(_NUMBERS)]}">{number}</text>'
        )
    return Box(58, 30, svg)


def _domino_back() -> Box:
    return Box(44, 26, f'<rect width="43" height="25" rx="5" fill="{BACK}" stroke="#dfe5f2"/>')


def _tricks(tricks: TrickTable, width: float) -> Box:
    """Return the tricks as a table; of a long one the last columns."""
    if not tricks.heads:
        return EMPTY
    names = [_line(name, CHALK, 150) for name, _ in tricks.rows]
    label_width = max((name.width for name in names), default=0.0) + 10
    columns = [
        [_cell(cells[at]) if at < len(cells) else EMPTY for _, cells in tricks.rows]
        for at in range(len(tricks.heads))
    ]
    widths = [max(44.0, *(cell.width for cell in each)) + 12 for each in columns]
    first = len(columns) - 1
    while first and label_width + sum(widths[first - 1 :]) <= width:
        first -= 1
    heights = [
        max(24.0, *(each[at].height for each in columns[first:])) + 4
        for at in range(len(tricks.rows))
    ]
    svg, y = "", 20.0
    for name, height in zip(names, heights, strict=True):
        svg += name.at(label_width - 10 - name.width, y + height / 2 - 10)
        y += height
    x = label_width
    for at in range(first, len(columns)):
        head = boxes.text_box(tricks.heads[at], _SMALL, DIM, width=widths[at])
        svg += head.at(x + (widths[at] - head.width) / 2, 0)
        y = 20.0
        for cell, height in zip(columns[at], heights, strict=True):
            svg += cell.at(x + (widths[at] - cell.width) / 2, y + (height - cell.height) / 2)
            y += height
        x += widths[at]
    return boxes.column(
        [_line(tricks.label, DIM, width), Box(x, y, svg), _note(tricks.note, width)]
    )


def _cell(cell: TrickCell) -> Box:
    if not cell.cards.faces:
        return EMPTY
    count = len(cell.cards.faces)
    cards = _cards([_card(face) for face in cell.cards.faces], _WIDTH + _PEEK * (count - 1))
    content = boxes.scaled(cards, 0.8)
    if not cell.won:
        return content
    style = 'fill="#aaffa0" fill-opacity=".2" stroke="#a9e5a0" stroke-width="2"'
    return boxes.panel(content, content.width + 8, content.height + 8, padding=4, style=style)


def _layout(layout: DominoLayout, width: float) -> Box:
    """Return Pokino's layout, scaled to the available space."""
    if not layout.pieces:
        return EMPTY
    left, right, top, bottom = layout.bounds
    wide, high = (right - left + 1) * _SQUARE, (bottom - top + 1) * _SQUARE
    order = ("domino", "run", "fresh", "token", "fresh-token")
    pieces = sorted(
        (piece for piece in layout.pieces if piece.what in order),
        key=lambda piece: order.index(piece.what),
    )
    svg = "".join(_piece(piece) for piece in pieces)
    content = Box(
        wide, high, f'<g transform="translate({-left * _SQUARE} {-top * _SQUARE})">{svg}</g>'
    )
    scale = min(1.5, width / wide, _LAYOUT_HEIGHT / high)
    return boxes.column([boxes.scaled(content, scale), _note(layout.words, width)], 4)


def _piece(piece: GridPiece) -> str:
    x = min(piece.x, piece.second_x) * _SQUARE
    y = min(piece.y, piece.second_y) * _SQUARE
    wide = (abs(piece.x - piece.second_x) + 1) * _SQUARE
    high = (abs(piece.y - piece.second_y) + 1) * _SQUARE
    middle_x = (piece.x + piece.second_x + 1) * _SQUARE / 2
    middle_y = (piece.y + piece.second_y + 1) * _SQUARE / 2
    seat_color = SEATS[piece.seat % len(SEATS)] if piece.seat >= 0 else ""
    match piece.what:
        case "domino":
            return "".join(_laid_domino(piece, x, y, wide, high, seat_color))
        case "fresh":
            return (
                f'<rect x="{x - 1}" y="{y - 1}" width="{wide + 2}" height="{high + 2}" rx="8" '
                f'fill="none" stroke="{FRESH_COLOR}" stroke-width="4"/>'
            )
        case "run":
            ends = ((v + 0.5) * _SQUARE for v in (piece.x, piece.y, piece.second_x, piece.second_y))
            return '<path d="M{} {}L{} {}" stroke="#ffd54a" stroke-width="6" opacity=".7"/>'.format(
                *ends
            )
        case "token":
            return (
                f'<circle cx="{middle_x}" cy="{middle_y}" r="8" fill="{seat_color or RED}" '
                'stroke="#fff" stroke-width="2"/>'
            )
    return (
        f'<circle cx="{middle_x}" cy="{middle_y}" r="12" fill="none" stroke="{FRESH_COLOR}" '
        'stroke-width="4"/>'
    )


def _laid_domino(
    piece: GridPiece, x: float, y: float, wide: float, high: float, seat_color: str
) -> Iterator[str]:
    yield (
        f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{wide - 3}" height="{high - 3}" rx="6" '
        f'fill="{CARD}" stroke="{seat_color or EDGE}" stroke-width="{4 if seat_color else 1.2}"/>'
    )
    numbers: Iterable[tuple[float, float, str]] = zip(
        (piece.x, piece.second_x), (piece.y, piece.second_y), piece.text.split("-"), strict=True
    )
    for column, line, number in numbers:
        color = _NUMBERS[int(number) % len(_NUMBERS)]
        yield (
            f'<text x="{column * _SQUARE + 20}" y="{line * _SQUARE + 28}" font-size="23" '
            f'font-weight="700" text-anchor="middle" fill="{color}">{number}</text>'
        )

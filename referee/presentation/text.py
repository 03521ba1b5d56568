"""Render renderings as lines of text, for terminals and pages without markup.

The text needs no colours: signs show what a page shows by colour, and a last line explains those
that occur.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import wrap

from referee.presentation.elements import (
    FRESH,
    GONE,
    Area,
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

# Draw a domino layout with characters.
#
# A number stands in the middle of its square; a frame joins the two squares of a domino. A token,
# on a closed border, is a dot or the letter of the seat that owns it.

SEAT_LETTERS = "abcdef"
"""The letter of each seat; upper case for a token laid by the last action."""
TOKEN, NEW_TOKEN = "●", "◉"

_Point = tuple[int, int]
_COLUMNS, _LINES = 4, 2
"""Columns and lines from one square to the next."""
_MARGIN = 6
"""Columns for the numbers of the rows."""

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_JOINTS = {
    _LEFT | _RIGHT: "─",
    _UP | _DOWN: "│",
    _DOWN | _RIGHT: "┌",
    _DOWN | _LEFT: "┐",
    _UP | _RIGHT: "└",
    _UP | _LEFT: "┘",
    _UP | _DOWN | _RIGHT: "├",
    _UP | _DOWN | _LEFT: "┤",
    _DOWN | _LEFT | _RIGHT: "┬",
    _UP | _LEFT | _RIGHT: "┴",
    15: "┼",
}
WIDTH = 80
BACK = "▒▒"
_BOARD_SIGNS = {
    "fresh": "! new",
    "token": f"{TOKEN} token",
    "fresh-token": f"{NEW_TOKEN} new token",
}


def grid_lines(board: DominoLayout, width: int) -> Iterator[str]:
    """Yield the used part of the grid, with numbered columns and rows at its edges.

    A grid that is wider than `width` columns is cut into several, from left to right.
    """
    if not board.pieces:
        return
    left, right, top, _ = board.bounds
    drawing = _drawn(board)
    squares = max(1, (width - _MARGIN) // _COLUMNS)
    for first in range(left, right + 1, squares):
        last = min(first + squares - 1, right)
        numbers = "".join(f"{column:>3} " for column in range(first, last + 1))
        yield f"{'':{_MARGIN}}{numbers}".rstrip()
        begin, end = (first - left) * _COLUMNS, (last - left + 1) * _COLUMNS + 1
        used = [line for column, line in drawing if begin <= column < end]
        for line in range(min(used), max(used) + 1) if used else ():
            number = f"{top + line // _LINES:>4}" if line % _LINES else "    "
            text = "".join(drawing.get((column, line), " ") for column in range(begin, end))
            yield f"{number}  {text}".rstrip()


def _drawn(board: DominoLayout) -> dict[_Point, str]:
    """Return the characters of the grid by column and line."""
    left, _, top, _ = board.bounds
    joints: dict[_Point, int] = {}
    texts: dict[_Point, str] = {}
    new = {_squares(piece) for piece in board.pieces if piece.what == "fresh"}
    new_tokens = {_squares(piece) for piece in board.pieces if piece.what == "fresh-token"}
    for piece in board.pieces:
        first, second = (((x - left), (y - top)) for x, y in _squares(piece))
        if piece.what == "domino":
            _frame(joints, first, second)
            for (x, y), number in zip((first, second), piece.text.split("-"), strict=True):
                sign = "!" if _squares(piece) in new else " "
                for column, character in enumerate(f"{number:>2}{sign}", x * _COLUMNS + 1):
                    texts[column, y * _LINES + 1] = character
        elif piece.what == "token":
            texts[_border(first, second)] = _token(piece, _squares(piece) in new_tokens)
    return {point: _JOINTS[joint] for point, joint in joints.items()} | texts


def _squares(piece: GridPiece) -> tuple[_Point, _Point]:
    return (int(piece.x), int(piece.y)), (int(piece.second_x), int(piece.second_y))


def _border(first: _Point, second: _Point) -> _Point:
    """Return the middle of the border between two squares, the second right of or below."""
    x, y = second[0] * _COLUMNS, second[1] * _LINES
    return (x, y + 1) if first[1] == second[1] else (x + 2, y)


def _token(piece: GridPiece, new: bool) -> str:
    if piece.seat < 0:
        return NEW_TOKEN if new else TOKEN
    letter = SEAT_LETTERS[piece.seat]
    return letter.upper() if new else letter


def _frame(joints: dict[_Point, int], *squares: _Point) -> None:
    """Add a frame round two squares: the directions in which lines leave each point."""
    left, right = min(x for x, _ in squares) * _COLUMNS, (max(x for x, _ in squares) + 1) * _COLUMNS
    top, bottom = min(y for _, y in squares) * _LINES, (max(y for _, y in squares) + 1) * _LINES
    for x in range(left, right):
        for y in (top, bottom):
            _join(joints, x, y, _RIGHT)
            _join(joints, x + 1, y, _LEFT)
    for y in range(top, bottom):
        for x in (left, right):
            _join(joints, x, y, _DOWN)
            _join(joints, x, y + 1, _UP)


def _join(joints: dict[_Point, int], x: int, y: int, direction: int) -> None:
    joints[x, y] = joints.get((x, y), 0) | direction


def lines(rendering: TableRendering, width: int = WIDTH) -> tuple[str, ...]:
    """Return the rendering as lines: cards as two letters, face-down cards as a pattern.

    Args:
        rendering: the rendering of a position.
        width: the maximum length of a line. Only a word or a board can be longer.
    """
    areas = (*rendering.centre, *(area for seat in rendering.seats for area in seat.areas))
    signs = dict.fromkeys(sign for area in areas for sign in _signs(area))
    legend = _wrapped(" · ".join(signs), "  ", width)
    return tuple(line.rstrip() for line in (*_lines(rendering, width), *legend))


def board_lines(board: DominoLayout, names: Sequence[str], width: int = WIDTH) -> Iterator[str]:
    """Yield the domino layout as a grid, with its description above it."""
    owners = sorted({piece.seat for piece in board.pieces if piece.what == "token"} - {-1})
    letters = [f"{SEAT_LETTERS[seat]} {names[seat]}" for seat in owners]
    yield from _wrapped(" · ".join([_labelled(board.label, board.words), *letters]), "  ", width)
    yield from grid_lines(board, width)


def _lines(rendering: TableRendering, width: int) -> Iterator[str]:
    names = [seat.name for seat in rendering.seats]
    yield from _wrapped(rendering.heading, "", width)
    for fact in rendering.facts:
        yield from _wrapped(fact, "  ", width)
    for area in rendering.centre:
        if isinstance(area, DominoLayout):
            yield from board_lines(area, names, width)
        else:
            yield from _area(area, "  ", width)
    for seat in rendering.seats:
        yield from _wrapped(_head(seat), "", width)
        for area in seat.areas:
            yield from _area(area, "    ", width)
    for area in rendering.below:
        yield from _area(area, "  ", width)


def _head(seat: SeatRendering) -> str:
    badges = "".join(f" · {badge.text}" for badge in seat.badges)
    return f"{'>' if seat.is_to_act else ' '} {seat.name} · score {seat.score}{badges}"


def _area(area: Area, indent: str, width: int) -> Iterator[str]:
    """Yield an area; nothing if it is empty."""
    match area:
        case OpenCards(label=label, held=held):
            yield from _row(label, held, indent, width)
        case PrivateCards(label=label, opened=opened, closed=closed):
            yield from _row(label, closed if opened is None else opened, indent, width)
        case CardLines(label=label, rows=rows, note=note):
            if rows or note:
                yield from _wrapped(_labelled(label, note), indent, width)
            for name, cards in rows:
                yield from _wrapped(_labelled(name, _held(cards)), indent + "  ", width)
        case TrickTable():
            yield from _trick_table(area, indent, width)
        case ScoreTable():
            yield from _score_table(area, indent, width)


def _row(label: str, held: Group, indent: str, width: int) -> Iterator[str]:
    cards = held.faces if isinstance(held, CardGroup) else held.tiles
    if cards or held.backs or held.note:
        yield from _wrapped(_labelled(label, _held(held)), indent, width)


def _trick_table(tricks: TrickTable, indent: str, width: int) -> Iterator[str]:
    if not tricks.heads:
        return
    yield from _wrapped(_labelled(tricks.label, tricks.note), indent, width)
    rows = [("", *tricks.heads), *((name, *map(_cell, cells)) for name, cells in tricks.rows)]
    yield from _columns(rows, indent + "  ", width, str.ljust)


def _cell(cell: TrickCell) -> str:
    if not cell.cards.faces:
        return ""
    return f"{'>' if cell.led else ''}{_held(cell.cards)}{'*' if cell.won else ''}"


def _score_table(scores: ScoreTable, indent: str, width: int) -> Iterator[str]:
    if scores.rows or scores.foot:
        yield f"{indent}{scores.label}"
        yield from _columns(
            (scores.heads, *scores.rows, *scores.foot), indent + "  ", width, str.rjust
        )


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if label and text else label or text


def _held(held: Group) -> str:
    if isinstance(held, CardGroup):
        shown = [
            f"{'[' * (GONE in face.marks)}{face.card}{']' * (GONE in face.marks)}"
            f"{'!' * (FRESH in face.marks)}"
            for face in held.faces
        ]
    else:
        shown = [str(tile) for tile in held.tiles]
    text = " ".join([*shown, *[BACK] * held.backs]) or "–"
    return f"{text}  ({held.note})" if held.note else text


def _signs(area: Area) -> Iterator[str]:
    """Yield the explanations of the signs in an area."""
    if isinstance(area, DominoLayout):
        kinds = {piece.what for piece in area.pieces if piece.what == "fresh" or piece.seat < 0}
        yield from (sign for kind, sign in _BOARD_SIGNS.items() if kind in kinds)
        return
    cells = [cell for _, row in area.rows for cell in row] if isinstance(area, TrickTable) else []
    marks = {mark for cards in _card_groups(area) for face in cards.faces for mark in face.marks}
    if FRESH in marks:
        yield "! new"
    if GONE in marks:
        yield "[ ] taken"
    if any(cell.led and cell.cards.faces for cell in cells):
        yield "> led"
    if any(cell.won and cell.cards.faces for cell in cells):
        yield "* won"


def _card_groups(area: Area) -> Iterator[CardGroup]:
    """Yield the visible cards of an area."""
    match area:
        case OpenCards(held=CardGroup() as held):
            yield held
        case PrivateCards(opened=opened, closed=closed):
            held_now = closed if opened is None else opened
            if isinstance(held_now, CardGroup):
                yield held_now
        case CardLines(rows=rows):
            yield from (cards for _, cards in rows)
        case TrickTable(rows=tricks):
            yield from (cell.cards for _, cells in tricks for cell in cells)


def _columns(
    rows: Sequence[Sequence[str]], indent: str, width: int, align: Callable[[str, int], str]
) -> Iterator[str]:
    """Yield a table; if it is too wide, each row as a list of its headings and values."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if len(indent) + sum(widths) + 2 * len(widths) - 2 <= width:
        for first, *others in rows:
            cells = map(align, others, widths[1:])
            yield indent + "  ".join([first.ljust(widths[0]), *cells]).rstrip()
        return
    _, *heads = rows[0]
    for first, *others in rows[1:]:
        items = (f"{head}: {cell}" for head, cell in zip(heads, others, strict=True) if cell)
        yield from _wrapped(_labelled(first, " · ".join(items)), indent, width)


def _wrapped(text: str, indent: str, width: int) -> Iterable[str]:
    return wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )

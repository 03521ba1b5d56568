"""Draw a domino layout with characters.

A number stands in the middle of its square; a frame joins the two squares of a domino. A token, on
a closed border, is a dot or the letter of the seat that owns it.
"""

from collections.abc import Iterator

from arena.presentation.elements import DominoLayout, GridPiece

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

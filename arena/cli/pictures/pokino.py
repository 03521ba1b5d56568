"""Draw positions of Pokino as text."""

from collections.abc import Sequence
from typing import Any

from arena.cli.pictures.wording import by_seat, columns, hand
from referee.dominoes import NUMBERS
from referee.games.pokino.layout import Layout
from referee.games.pokino.state import PokinoState

# Dominoes on a grid as text.
#
# A number stands in the middle of its square; a frame joins the two squares of a domino. A closed
# border has a mark: ``●``, or the letter of the seat that owns it (``a`` is seat 0).


Point = tuple[int, int]
WIDE, HIGH = 4, 2
"""Columns and lines from one square to the next."""

SEATS = "abcdef"

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


def board(layout: Layout, owned: bool) -> list[str]:
    """Draw the used part of the grid, with numbered columns and rows at its edges.

    Args:
        layout: the dominoes and tokens.
        owned: whether marks show the owner of each token.
    """
    if not layout.tiles:
        return ["  nothing lies on the table"]
    squares = {square for tile in _squares(layout) for square in tile}
    left, right = min(x for x, _ in squares), max(x for x, _ in squares)
    top, bottom = min(y for _, y in squares), max(y for _, y in squares)
    lines = _Lines()
    for pair in _squares(layout):
        lines.frame([((x - left) * WIDE, (y - top) * HIGH) for x, y in pair])
    for tile, (low, high) in zip(layout.tiles, _squares(layout), strict=True):
        for (x, y), number in zip((low, high), NUMBERS[tile.domino], strict=True):
            lines.write((x - left) * WIDE + 1, (y - top) * HIGH + 1, f"{number:>2} ")
    for token in layout.tokens:
        mark = SEATS[token.owner] if owned else "●"
        x, y = (token.second_x - left) * WIDE, (token.second_y - top) * HIGH
        across = token.y == token.second_y
        lines.write(x if across else x + 2, y + 1 if across else y, mark)
    return _numbered(lines.text((right - left + 1) * WIDE, (bottom - top + 1) * HIGH), left, top)


def _squares(layout: Layout) -> list[tuple[Point, Point]]:
    return [((t.x, t.y), (t.second_x, t.second_y)) for t in layout.tiles]


def _numbered(text: list[str], left: int, top: int) -> list[str]:
    """Add the coordinates of the squares to the lines."""
    wide = max(map(len, text))
    above = "".join(f"{left + column:>3} " for column in range(wide // WIDE))
    beside = [f"{top + row // HIGH:>4} " if row % HIGH else "     " for row in range(len(text))]
    return [
        f"      {above}".rstrip(),
        *(f"{b} {line}".rstrip() for b, line in zip(beside, text, strict=True)),
    ]


class _Lines:
    """A character canvas."""

    def __init__(self) -> None:
        self._joints: dict[Point, int] = {}
        self._written: dict[Point, str] = {}

    def frame(self, corners: list[Point]) -> None:
        """Draw a frame round the two squares with these upper left corners."""
        left, right = min(x for x, _ in corners), max(x for x, _ in corners) + WIDE
        top, bottom = min(y for _, y in corners), max(y for _, y in corners) + HIGH
        for x in range(left, right):
            for y in (top, bottom):
                self._join(x, y, _RIGHT)
                self._join(x + 1, y, _LEFT)
        for y in range(top, bottom):
            for x in (left, right):
                self._join(x, y, _DOWN)
                self._join(x, y + 1, _UP)

    def _join(self, x: int, y: int, way: int) -> None:
        self._joints[x, y] = self._joints.get((x, y), 0) | way

    def write(self, x: int, y: int, text: str) -> None:
        """Write text over the drawing."""
        for at, letter in enumerate(text, x):
            self._written[at, y] = letter

    def text(self, wide: int, high: int) -> list[str]:
        """Return the lines of the canvas."""
        drawn = {point: _JOINTS[joint] for point, joint in self._joints.items()} | self._written
        return ["".join(drawn.get((x, y), " ") for x in range(wide + 1)) for y in range(high + 1)]


class PokinoPicture:
    """Draws positions of Pokino; the whole game is one chapter."""

    def chapter(self, state: Any) -> int:
        """Return 0: the whole game is one chapter."""
        return 0

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return the first seat, the top of the deck, the hands and the layout."""
        assert isinstance(state, PokinoState)
        head = f"{names[state.turn]} begins · deck {hand(state.deck[:1])}"
        return [head, *columns(_hands(state, names)), *board(state.layout, _is_owned(state))]

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Return the reason for the end and the score."""
        assert isinstance(state, PokinoState)
        how = ""
        if state.pokino:
            how = f"{names[state.turn]} calls Pokino! · "
        elif state.over:
            how = "the poke is empty · " if not state.poke else "everybody passed · "
        return [f"  = {how}score {by_seat(state.scores)}"]

    def table(self, state: Any) -> list[str]:
        """Return the dominoes and tokens."""
        assert isinstance(state, PokinoState)
        return board(state.layout, _is_owned(state))

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return score and hands, the layout, the runs, deck and poke."""
        assert isinstance(state, PokinoState)
        whose = "the game is over" if state.over else f"{names[state.turn]} to act"
        lines = [f"{whose} · score {by_seat(state.scores)} · beads {by_seat(state.beads)}"]
        lines += columns(_hands(state, names))
        lines += board(state.layout, _is_owned(state))
        for seat, name in enumerate(names):
            runs = [hand(run.cards) for run in state.runs if run.seat == seat]
            if runs:
                lines.append(f"  {name} played {' · '.join(runs)}")
        if state.removed:
            lines.append(f"  removed: {hand(state.removed)}")
        deck = f"  deck {len(state.deck)}: {hand(state.deck[:12])}" + " …" * (len(state.deck) > 12)
        return [*lines, f"{deck} · poke {len(state.poke)}"]


def _is_owned(state: PokinoState) -> bool:
    return state.variants.territory


def _hands(state: PokinoState, names: Sequence[str]) -> list[list[str]]:
    marks = [f"{seat} " if _is_owned(state) else "" for seat in SEATS]
    return [
        [f"  {mark}{name}", hand(dominoes), hand(cards)]
        for mark, name, cards, dominoes in zip(
            marks, names, state.hands, state.dominoes, strict=False
        )
    ]

"""What a command prints: data on standard output, everything else on standard error.

Every function here spells out control, bidirectional and invisible characters, so commands may
print text of bots, owners and other arenas without a thought.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from referee.sanitizing import escaped_json, one_line, sanitized

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


# Cards in the text of a game, painted for a terminal: four colours, with the signs of suits.


_CARD: Final = re.compile(r"\b([2-9TJQKA])([CDHS])\b")
_SUITS: Final = {"C": ("♣", "green"), "D": ("♦", "blue"), "H": ("♥", "red"), "S": ("♠", "bold")}


def painted(line: str) -> Text:
    """A line with its cards painted; every card stays two characters wide."""
    from rich.text import Text

    made = Text()
    end = 0
    for card in _CARD.finditer(line):
        sign, style = _SUITS[card[2]]
        made.append(line[end : card.start()])
        made.append(f"{card[1]}{sign}", style)
        end = card.end()
    made.append(line[end:])
    return made


def clean(text: str) -> str:
    """What a bot wrote, as one line that plays no tricks on a terminal."""
    from referee.sanitizing import sanitized

    return " ".join(sanitized(text).split())


# How far something is that takes its time, on standard error.


_PAUSE_SECONDS: Final = 2.0
_SIGN_OF_LIFE_SECONDS: Final = 15.0


class Progress:
    """Says how many of how many are done, at most every two seconds: nothing if it is quick."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, of: int) -> None:
        """So many are done; `what` stands behind the numbers."""
        if time.monotonic() - self._said >= _PAUSE_SECONDS:
            hint(f"{done} of {of} {what}")
            self._said = time.monotonic()

    def now(self, what: str) -> None:
        """This is done at the moment."""
        if time.monotonic() - self._said >= _PAUSE_SECONDS:
            hint(what)
            self._said = time.monotonic()


@contextmanager
def taking_its_time(what: str) -> Iterator[None]:
    """Says what is under way and how long it took, nothing if it is quick."""
    began, over = time.monotonic(), Event()

    def tell() -> None:
        if over.wait(_PAUSE_SECONDS):
            return
        hint(what)
        while not over.wait(_SIGN_OF_LIFE_SECONDS):
            hint(f"still at it after {time.monotonic() - began:.0f} s")
        hint(f"that took {time.monotonic() - began:.0f} s")

    teller = Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


Rows = Iterable[Sequence[object]]

_PAGE_WIDTH = 100
"""Lines of prose are no longer than this, however wide the terminal is."""


def line(text: str = "") -> None:
    """A line of data."""
    print(sanitized(text))


def heading(text: str) -> None:
    """A line of data above a table."""
    text = sanitized(text)
    if is_terminal():
        screen().print(text, style="bold", markup=False)
    else:
        print(text)


def state(word: str, style: str, name: str, text: str) -> None:
    """A line of data that begins with a state and what it is about."""
    name, text = sanitized(name), sanitized(text)
    if is_terminal():
        from rich.text import Text

        screen().print(Text.assemble((f"{word:<6}", style), (f"{name:<10}", "bold"), text))
    else:
        print(f"{word:<6}{name:<10}{text}")


def marked(mark: str, style: str, name: str, text: str) -> None:
    """A line of data that begins with a mark: how a check came out."""
    name, text = sanitized(name), sanitized(text)
    if is_terminal():
        from rich.text import Text

        screen().print(Text.assemble(" ", (mark, style), " ", (name, "bold"), f" {text}"))
    else:
        print(f" {mark} {name} {text}", flush=True)


def told(text: str) -> None:
    """A line of data about a game, its cards painted on a terminal."""
    text = sanitized(text)
    if is_terminal():
        screen().print(painted(text))
    else:
        print(text)


def page(markdown: str) -> None:
    """A page of Markdown: set on a terminal, as it is written in a pipe."""
    if is_terminal():
        from rich.console import Console
        from rich.markdown import Markdown

        Console(width=min(Console().width, _PAGE_WIDTH)).print(Markdown(markdown))
    else:
        print(markdown, end="")


def document(value: Any) -> None:
    """A value as one line of JSON."""
    print(escaped_json(json.dumps(value, ensure_ascii=False)))


def hint(text: str) -> None:
    """A line of progress or advice, which is no data."""
    _beside((("dim", text),))


def warn(sentence: str) -> None:
    """What went wrong on our side and should not be overlooked."""
    _beside((("bold yellow", "warning  "), ("", sentence)))


def complain(sentence: str) -> None:
    """What went wrong, as a sentence."""
    _beside((("bold red", "error  "), ("", sentence)))


def next_step(*commands: str) -> None:
    """What to type next: the last words of every command."""
    from arena.cli.errors import typed

    for number, command in enumerate(commands):
        _beside((("bold", "      " if number else "next  "), ("cyan", typed(command))))


def _beside(parts: Sequence[tuple[str, str]]) -> None:
    """A line on standard error, of texts with their styles, after all data so far."""
    parts = [(style, sanitized(text)) for style, text in parts]
    sys.stdout.flush()
    if not sys.stderr.isatty():
        # Without rich, which takes longer to import than a short command does to run.
        print("".join(text for _, text in parts), file=sys.stderr, flush=True)
        return
    from rich.text import Text

    line = Text()
    for style, text in parts:
        line.append(text, style)
    screen(stderr=True).print(line)


def screen(*, stderr: bool = False) -> Console:
    """A console on standard output or error, which leaves text as it is given."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def table(headings: Sequence[str], rows: Rows, *, left: int = 1) -> None:
    """A table as data: drawn on a terminal, aligned text in a pipe.

    left: how many columns, from the first, are set flush left; numbers are flush right. A
        heading that begins with "<" makes its column flush left too.
    """
    cells = [_cells(row) for row in rows]
    if is_terminal():
        screen().print(drawn(headings, cells, left=left))
    else:
        for text in aligned(headings, cells, left=left):
            print(text)


def drawn(headings: Sequence[str], rows: Rows, *, left: int = 1) -> RenderableType:
    """The same table for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for number, heading in enumerate(headings):
        is_left = number < left or heading.startswith("<")
        made.add_column(heading.lstrip("<"), justify="left" if is_left else "right", no_wrap=True)
    for row in rows:
        made.add_row(*map(Text, _cells(row)))
    return made


def _cells(row: Sequence[object]) -> list[str]:
    return ["" if cell is None else one_line(str(cell)) for cell in row]


def aligned(headings: Sequence[str], rows: Rows, *, left: int = 1) -> list[str]:
    """The same table as lines of text."""
    words = [heading.lstrip("<") for heading in headings]
    cells = [words, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    is_left = [n < left or heading.startswith("<") for n, heading in enumerate(headings)]
    return [
        "  ".join(
            cell.ljust(width) if flush else cell.rjust(width)
            for cell, width, flush in zip(row, widths, is_left, strict=True)
        ).rstrip()
        for row in cells
    ]

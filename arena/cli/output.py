"""Print data on standard output, everything else on standard error; format counts and times.

The functions that print text of bots, owners and other arenas escape control, bidirectional and
invisible characters; `page` prints only trusted Markdown, unescaped.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from referee.sanitizing import escaped_json, one_line, sanitized

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

# The alphabet of match ids, without letters that are easily confused.
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_CARD: Final = re.compile(r"\b([2-9TJQKA])([CDHS])\b")
_SUITS: Final = {"C": ("♣", "green"), "D": ("♦", "blue"), "H": ("♥", "red"), "S": ("♠", "bold")}
_PAUSE_SECONDS: Final = 2.0
_SIGN_OF_LIFE_SECONDS: Final = 15.0
_PAGE_WIDTH = 100
"""Maximum length of a line of prose, even on wider terminals."""


def local_time(seconds: float | None) -> str:
    """Format a time in the local time zone."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "minutes")


def random_seed() -> str:
    """Return a random seed text, short enough to be typed again."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def count(number: int, singular: str, more: str = "") -> str:
    """Format a count: "1 match", "3 matches"; ``more`` is an irregular plural."""
    return f"{number} {singular if number == 1 else more or singular + 's'}"


def tournament_state(state: str, playing: bool) -> str:
    """Return the state to print: `waiting` if a running tournament is not being played."""
    return "waiting" if state == "running" and not playing else state


def painted(line: str) -> Text:
    """Colour the cards of a line; every card stays two characters wide."""
    from rich.text import Text

    text = Text()
    end = 0
    for card in _CARD.finditer(line):
        sign, style = _SUITS[card[2]]
        text.append(line[end : card.start()])
        text.append(f"{card[1]}{sign}", style)
        end = card.end()
    text.append(line[end:])
    return text


def clean(text: str) -> str:
    """Return text from a bot as one line that is safe for a terminal."""
    return " ".join(sanitized(text).split())


class ProgressLine:
    """Prints progress at most every two seconds; prints nothing for quick operations."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def __call__(self, what: str, done: int, of: int) -> None:
        """Report that `done` of `of` items are finished; `what` names the items."""
        self.now(f"{done} of {of} {what}")

    def now(self, what: str) -> None:
        """Report the current activity."""
        if time.monotonic() - self._printed_at >= _PAUSE_SECONDS:
            hint(what)
            self._printed_at = time.monotonic()


@contextmanager
def long_operation(description: str) -> Iterator[Callable[[str], None]]:
    """Print the progress and the duration of a slow operation; print nothing for a quick one.

    Yields:
        A function that receives the latest line of progress.
    """
    began, over = time.monotonic(), Event()
    latest = ""

    def report(line: str) -> None:
        nonlocal latest
        latest = line

    def print_progress() -> None:
        if over.wait(_PAUSE_SECONDS):
            return
        hint(description)
        printed, printed_at = "", time.monotonic()
        while not over.wait(_PAUSE_SECONDS):
            now = time.monotonic()
            if latest != printed:
                printed, printed_at = latest, now
                hint(f"  {printed}")
            elif now - printed_at >= _SIGN_OF_LIFE_SECONDS:
                printed_at = now
                hint(f"  still running after {now - began:.0f} s")
        hint(f"took {time.monotonic() - began:.0f} s")

    printer = Thread(target=print_progress, name="progress", daemon=True)
    printer.start()
    try:
        yield report
    finally:
        over.set()
        printer.join()


Rows = Iterable[Sequence[object]]


def line(text: str = "") -> None:
    """Print a line of data."""
    print(sanitized(text))


def heading(text: str) -> None:
    """Print a line of data above a table."""
    _print_styled((("bold", text),))


def state(word: str, style: str, name: str, text: str) -> None:
    """Print a line of data that begins with a state and its subject."""
    _print_styled(((style, f"{word:<6}"), ("bold", f"{name:<10}"), ("", text)))


def marked(mark: str, style: str, name: str, text: str) -> None:
    """Print a line of data that begins with a mark: the result of a check."""
    _print_styled((("", " "), (style, mark), ("", " "), ("bold", name), ("", f" {text}")))


def game_line(text: str) -> None:
    """Print a line of data about a game, with coloured cards on a terminal."""
    text = sanitized(text)
    if is_terminal():
        screen().print(painted(text))
    else:
        print(text)


def show_page(markdown: str) -> None:
    """Print Markdown: rendered on a terminal, as source in a pipe."""
    if is_terminal():
        from rich.console import Console
        from rich.markdown import Markdown

        Console(width=min(Console().width, _PAGE_WIDTH)).print(Markdown(markdown))
    else:
        print(markdown, end="")


def document(value: Any) -> None:
    """Print a value as one line of JSON."""
    print(escaped_json(json.dumps(value, ensure_ascii=False)))


def result(as_json: bool, values: object, *sentences: str, then: str = "") -> None:
    """Print what a command has done: one line of JSON, or sentences and the next command."""
    if as_json:
        document(values)
        return
    for sentence in sentences:
        line(sentence)
    if then:
        next_step(then)


def listing(
    as_json: bool,
    values: Iterable[object],
    headings: Sequence[str],
    rows: Rows,
    then: str = "",
) -> None:
    """Print a list: one line of JSON for each item, or a table and the next command."""
    if as_json:
        for each in values:
            document(each)
        return
    table(headings, rows)
    if then:
        next_step(then)


def secret(
    as_json: bool, whose: Mapping[str, str], token: str, *then: str, about: str = ""
) -> None:
    """Print a new token, its owner, its purpose, and the next commands."""
    result(as_json, {**whose, "token": token}, token)
    if not as_json:
        name = " ".join(whose.values())
        hint(f"token of {name}; it is shown only once, and the arena stores only its hash")
        if about:
            hint(about)
        next_step(*then)


def hint(*texts: str) -> None:
    """Print lines of progress or advice, which are not data."""
    for text in texts:
        _print_styled((("dim", text),), stderr=True)


def warn(sentence: str) -> None:
    """Print a warning about a problem of the arena."""
    _print_styled((("bold yellow", "warning  "), ("", sentence)), stderr=True)


def warn_without_sandbox() -> None:
    """Print a warning on systems without a sandbox, before bots are started."""
    if sys.platform != "linux":
        warn("bots run unsandboxed, because this system is not Linux. Start only bots you trust.")


def complain(sentence: str) -> None:
    """Print an error as a sentence."""
    _print_styled((("bold red", "error  "), ("", sentence)), stderr=True)


def next_step(*commands: str) -> None:
    """Print the next commands to type, at the end of a command's output."""
    from arena.cli.errors import typed

    for number, command in enumerate(commands):
        first = "      " if number else "next  "
        _print_styled((("bold", first), ("cyan", typed(command))), stderr=True)


def _print_styled(parts: Sequence[tuple[str, str]], *, stderr: bool = False) -> None:
    """Print a line of styled parts; on standard error after all previous data."""
    parts = [(style, sanitized(text)) for style, text in parts]
    stream = sys.stderr if stderr else sys.stdout
    sys.stdout.flush()
    if not stream.isatty():
        # Without rich, whose import takes longer than a short command.
        print("".join(text for _, text in parts), file=stream, flush=True)
        return
    from rich.text import Text

    screen(stderr=stderr).print(Text.assemble(*((text, style) for style, text in parts)))


def screen(*, stderr: bool = False) -> Console:
    """Return a console on standard output or error that does not alter text."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def table(headings: Sequence[str], rows: Rows, *, left: int = 1) -> None:
    """Print a table as data: drawn on a terminal, aligned text in a pipe.

    Args:
        headings: headings of the columns; a leading "<" aligns the column to the left.
        rows: the cells.
        left: number of columns, from the first, that are aligned to the left; others to the right.
    """
    cells = [_cells(row) for row in rows]
    if is_terminal():
        screen().print(drawn(headings, cells, left=left))
    else:
        for text in aligned(headings, cells, left=left):
            print(text)


def drawn(headings: Sequence[str], rows: Rows, *, left: int = 1) -> RenderableType:
    """Return a table drawn for a terminal, with the arguments of `table`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for number, heading in enumerate(headings):
        is_left = number < left or heading.startswith("<")
        grid.add_column(heading.lstrip("<"), justify="left" if is_left else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*map(Text, _cells(row)))
    return grid


def _cells(row: Sequence[object]) -> list[str]:
    return ["" if cell is None else one_line(str(cell)) for cell in row]


def aligned(headings: Sequence[str], rows: Rows, *, left: int = 1) -> list[str]:
    """Return a table as aligned lines of text, with the arguments of `table`."""
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

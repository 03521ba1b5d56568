"""`pokearena watch`: where keys lead, and the screen of a real terminal."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.cli.place import Place
from arena.cli.watching.view import Kind, View, Where, pressed
from tests.arena.cli.stored import hold
from tests.arena.cli.terminal import POKEARENA, Cli

LADDER = View(Kind.LADDER, "poke")
ROWS = [View(Kind.BOT, "ada"), View(Kind.BOT, "bob"), None]
FORMS = ["poke", "pouku-3", "saint_poker-2"]


def after(keys: list[str], where: Where | None = None) -> Where:
    found = where or Where((LADDER,))
    for key in keys:
        found = pressed(found, key, ROWS, FORMS)
    return found


def test_the_cursor_stays_on_the_table() -> None:
    assert after(["up"]).view.row == 0
    assert after(["down", "j"]).view.row == 2
    assert after(["down"] * 9).view.row == 2
    assert after(["down"] * 9 + ["k"]).view.row == 1


def test_enter_opens_what_is_chosen_and_escape_goes_back_to_it() -> None:
    opened = after(["down", "\n"])
    assert opened.view == View(Kind.BOT, "bob")
    assert after(["escape"], opened).view == View(Kind.LADDER, "poke", row=1)
    assert after(["down", "down", "\n"]).view.kind is Kind.LADDER


def test_brackets_turn_the_ladders_round() -> None:
    assert after(["]"]).view.value == "pouku-3"
    assert after(["["]).view.value == "saint_poker-2"
    assert after(["]", "]", "]"]).view.value == "poke"
    assert after(["m", "]"]).view == View(Kind.MATRIX, "pouku-3")


def test_what_is_typed_after_a_slash_is_found() -> None:
    typing = after(["/", "a", "q", "\x7f", "d"])
    assert (typing.typing, typing.over) == ("ad", False)
    found = after(["\n"], typing)
    assert (found.typing, found.view.find) == (None, "ad")
    assert after(["escape"], found).view.find == ""
    assert after(["escape"], typing).view.find == ""


def test_q_ends_it() -> None:
    assert after(["q"]).over


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""

    def press(self, keys: str) -> None:
        """Types; what was seen before is forgotten."""
        self.text = ""
        os.write(self._descriptor, keys.encode())

    def sees(self, words: str, seconds: float = 60) -> None:
        """Waits until these words are on the screen."""
        until = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < until, f"no {words!r} in {self.text[-3000:]!r}"
            if select.select([self._descriptor], [], [], 0.2)[0]:
                told = os.read(self._descriptor, 65536).decode(errors="replace")
                self.text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", told)


@contextmanager
def watching(data: Path, *words: str) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [POKEARENA, "watch", *words, "--data", data],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "110", "LINES": "40"},
    )
    os.close(theirs)
    try:
        yield Terminal(ours), process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    hold(Place(tmp_path / "data"), ["ada", "bob", "cy"], {}, boards=2)
    return tmp_path / "data"


def test_a_terminal_shows_ladder_bot_match_and_crosstable(data: Path) -> None:
    with watching(data, "poke") as (terminal, process):
        terminal.sees("ada@1")
        terminal.press("m")
        terminal.sees("the score of the line")
        terminal.press("\x1b")
        terminal.sees("W–D–L")
        terminal.press("\n")
        terminal.sees("the newest first")
        terminal.press("\n")
        terminal.sees("pokearena replay m-")
        terminal.press("q")
        assert process.wait(30) == 0


def test_the_ladder_moves_when_a_match_closes(data: Path) -> None:
    with watching(data, "poke") as (terminal, process):
        terminal.sees("ada@1")
        hold(Place(data), ["dan", "eve"], {}, boards=1)
        terminal.sees("dan@1")
        terminal.press("q")
        assert process.wait(30) == 0


def test_without_a_terminal_it_says_what_to_type_instead(cli: Cli, data: Path) -> None:
    said = cli("watch", "poke", "--data", data)
    assert said.status == 2
    assert "watch needs a terminal with a keyboard" in said.err
    assert "pokearena standings poke --watch" in said.last

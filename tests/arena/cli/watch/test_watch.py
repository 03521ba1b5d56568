"""`pokearena watch`: keys, and the screen in a real terminal."""

from pathlib import Path

import pytest

from arena.cli.watch.navigation import Navigation, View, ViewKind, pressed
from arena.cli.workspace import Workspace
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.cli.terminal import Cli, in_a_terminal

LADDER = View(ViewKind.LADDER, "poke")
ROWS = [View(ViewKind.BOT, "ada"), View(ViewKind.BOT, "bob"), None]
FORMS = ["poke", "pouku-3", "saint_poker-2"]


def after(keys: list[str], where: Navigation | None = None) -> Navigation:
    navigation = where or Navigation((LADDER,))
    for key in keys:
        navigation = pressed(navigation, key, ROWS, FORMS)
    return navigation


def test_the_cursor_stays_on_the_table() -> None:
    assert after(["up"]).view.row == 0
    assert after(["down", "j"]).view.row == 2
    assert after(["down"] * 9).view.row == 2
    assert after(["down"] * 9 + ["k"]).view.row == 1


def test_enter_opens_the_selected_row_and_escape_returns() -> None:
    opened = after(["down", "\n"])
    assert opened.view == View(ViewKind.BOT, "bob")
    assert after(["escape"], opened).view == View(ViewKind.LADDER, "poke", row=1)
    assert after(["down", "down", "\n"]).view.kind is ViewKind.LADDER


def test_brackets_cycle_through_the_ladders() -> None:
    assert after(["]"]).view.value == "pouku-3"
    assert after(["["]).view.value == "saint_poker-2"
    assert after(["]", "]", "]"]).view.value == "poke"
    assert after(["m", "]"]).view == View(ViewKind.MATRIX, "pouku-3")


def test_a_slash_starts_a_search() -> None:
    typing = after(["/", "a", "q", "\x7f", "d"])
    assert (typing.typing, typing.over) == ("ad", False)
    navigation = after(["\n"], typing)
    assert (navigation.typing, navigation.view.find) == (None, "ad")
    assert after(["escape"], navigation).view.find == ""
    assert after(["escape"], typing).view.find == ""


def test_q_quits() -> None:
    assert after(["q"]).over


@pytest.fixture
def data(tmp_path: Path) -> Path:
    store_tournament(Workspace(tmp_path / "data"), ["ada", "bob", "cy"], {}, boards=2)
    return tmp_path / "data"


@pytest.mark.long
def test_a_terminal_shows_ladder_bot_match_and_crosstable(data: Path) -> None:
    with in_a_terminal(data, "watch", "poke", "--data", data) as terminal:
        terminal.sees("ada@1")
        terminal.press("m")
        terminal.sees("score of the row")
        terminal.press("\x1b")
        terminal.sees("W–D–L")
        terminal.press("\n")
        terminal.sees("newest first")
        terminal.press("\n")
        terminal.sees("pokearena replay m-")
        terminal.press("q")
        assert terminal.ends() == 0


@pytest.mark.long
def test_a_low_terminal_shows_the_keys_and_survives_a_burst_of_arrows(data: Path) -> None:
    for _ in range(8):
        store_tournament(Workspace(data), ["ada", "bob", "cy"], {}, boards=2)
    with in_a_terminal(data, "watch", "poke", "--data", data, lines=20) as terminal:
        terminal.sees("q quit")
        terminal.press("\n")
        terminal.sees("newest first")
        terminal.sees("q quit")
        terminal.press("\x1b[B" * 25)
        terminal.press("\n")
        terminal.sees("pokearena replay m-")
        terminal.press("q")
        assert terminal.ends() == 0


@pytest.mark.long
def test_a_narrow_terminal_hides_columns_and_truncates_no_word(data: Path) -> None:
    with in_a_terminal(data, "watch", "poke", "--data", data, columns=48) as terminal:
        terminal.sees("ada@1")
        terminal.sees("strength")
        assert "…" not in terminal.text
        terminal.press("q")
        assert terminal.ends() == 0


@pytest.mark.long
def test_the_ladder_is_updated_when_a_match_closes(data: Path) -> None:
    with in_a_terminal(data, "watch", "poke", "--data", data) as terminal:
        terminal.sees("ada@1")
        store_tournament(Workspace(data), ["dan", "eve"], {}, boards=1)
        terminal.sees("dan@1")
        terminal.press("q")
        assert terminal.ends() == 0


def test_without_a_terminal_watch_suggests_standings(cli: Cli, data: Path) -> None:
    result = cli("watch", "poke", "--data", data)
    assert result.status == 2
    assert result.code == "no-terminal"
    assert "pokearena standings poke --watch" in result.last

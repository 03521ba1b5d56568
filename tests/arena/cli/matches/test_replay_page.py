"""The replay as one HTML file: `play --open`, `replay --html` and `replay --open`."""

import json
from pathlib import Path

import pytest
from PIL import Image

from referee.record import read
from tests.arena.cli.terminal import Cli
from tests.full_disk import largest_file

BOTS = ("sample:meek", "sample:random")


@pytest.fixture
def browser(cwd: Path) -> Path:
    """Install a browser that logs its argument in the file `opened`."""
    browser = cwd / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {cwd}/opened\n')
    browser.chmod(0o700)
    return browser


@pytest.mark.long
def test_play_writes_the_replay_and_opens_it_in_the_browser(program: Cli, browser: Path) -> None:
    shown = program("play", "poke", *BOTS, "--open", BROWSER=f"{browser} %s")
    assert shown.status == 0
    (page,) = Path(".pokearena/plays").glob("m-*.html")
    assert str(page) in shown.out
    assert Path("opened").read_text() == page.absolute().as_uri()
    assert page.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.long
def test_the_path_is_printed_without_a_browser_too(program: Cli, played: Path) -> None:
    words = ("replay", played, "--open")
    shown = program(*words, BROWSER="", PATH="/nowhere", DISPLAY="", WAYLAND_DISPLAY="")
    assert shown.status == 0
    (page,) = Path(".pokearena/plays").glob("m-*.html")
    assert str(page) in shown.out


def test_replay_writes_the_games_to_a_file(cli: Cli, played: Path) -> None:
    for words, templates in (((), 1), (("--game", "1"), 0)):
        written = cli("replay", played, "--html", "here.html", *words)
        assert written.status == 0
        assert "here.html" in written.out
        assert Path("here.html").read_text().count("<template") == templates
    match = read(played.read_text()).match["match"]
    document = cli("replay", played, "--html", "here.html", "--json").json
    assert document == {"match": match, "html": "here.html"}
    assert not Path(".pokearena").exists()


@pytest.mark.long
def test_the_page_of_a_deleted_match_is_deleted(cli: Cli, played: Path) -> None:
    plays = Path(".pokearena/plays")
    plays.mkdir(parents=True)
    (plays / "m-aaaaaaaaaa.jsonl").write_text(played.read_text())
    (plays / "m-aaaaaaaaaa.html").write_text("")
    cli("play", "poke", *BOTS, "--keep", 1)
    assert [path.suffix for path in plays.iterdir()] == [".jsonl"]


@pytest.mark.long
def test_a_page_that_cannot_be_written_loses_neither_result_nor_record(cli: Cli, cwd: Path) -> None:
    with largest_file(100_000):
        shown = cli("play", "poke", *BOTS, "--open", "--json")
    assert (shown.status, shown.code) == (1, "cannot-write")
    document = shown.json
    assert Path(document["record"]).is_file()
    assert document["html"] is None
    assert not list(cwd.rglob("*.html"))


def test_a_record_that_is_not_correct_is_refused(cli: Cli, played: Path) -> None:
    lines = played.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if '"type":"action"' in line)
    changed = json.loads(lines[at]) | {"action": {"poke": {"lead": {"cards": ["2C"]}}}}
    lines[at] = json.dumps(changed, separators=(",", ":"))
    Path("wrong.jsonl").write_text("\n".join(lines) + "\n")
    refused = cli("replay", "wrong.jsonl", "--html", "here.html")
    assert (refused.status, refused.code) == (1, "invalid-record")
    assert not Path("here.html").exists()


@pytest.mark.long
def test_replay_writes_an_animation(cli: Cli, played: Path) -> None:
    words = ("replay", played, "--gif", "here.gif", "--game", "0", "--size", "240x160")
    written = cli(*words, "--seat", "1", "--step-time", "0.5", "--json").json
    with Image.open("here.gif") as gif:
        assert (gif.width, gif.height, getattr(gif, "n_frames", 1)) == (240, 160, written["frames"])
        assert gif.info["duration"] == 500


@pytest.mark.parametrize(
    "words", [("--size", "9x9"), ("--seat", "7"), ("--step-time", "0"), ("--html", "here.html")]
)
def test_invalid_options_of_an_animation_are_refused(
    cli: Cli, played: Path, words: tuple[str, str]
) -> None:
    assert cli("replay", played, "--gif", "here.gif", *words).status == 2
    assert not Path("here.gif").exists()


@pytest.mark.parametrize("words", [("--size", "240x160"), ("--seat", "1"), ("--step-time", "0.5")])
def test_options_of_an_animation_require_gif(
    cli: Cli, played: Path, words: tuple[str, str]
) -> None:
    result = cli("replay", played, *words)
    assert result.status == 2
    assert "--gif" in result.err

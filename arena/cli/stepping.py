"""Steps through recorded games: as text, as JSON, or by keys in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from arena.cli import output, story
from arena.cli.pictures import picture_of
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import position, steps

Page = list[str]
_ACTION = ("seat", "decision", "action", "ms", "note", "by")


def positions(match: Line, game: GameRecord, seed: bytes) -> Iterator[dict[str, Any]]:
    """Every position of a game in full, with the actions that follow; the last has the result."""
    ended = {name: game.result[name] for name in ("places", "scores", "verdicts")}
    made: dict[str, Any] | None = None
    for step in steps(match, game, seed):
        if made is not None:
            yield made
        made = {
            "match": match["match"],
            "game": game.number,
            "decision": step.decision,
            "position": position(step.state),
            "actors": list(step.state.actors),
            "actions": [{n: line[n] for n in _ACTION if n in line} for line in step.lines],
        }
    if made is not None:
        yield {**made, "result": ended}


def pages(match: Line, game: GameRecord, seed: bytes) -> Iterator[Page]:
    """Every position of a game as lines of text, with what was done in it."""
    names: Sequence[str] = game.game["seating"]
    picture = picture_of(match["game"])
    rules = find(match["game"])
    heading = story.title(match, game)
    for step in steps(match, game, seed):
        page = [heading, *picture.position(step.state, names)]
        page += [f"> {story.move(rules, line, names)}" for line in step.lines]
        if not step.lines:
            page += [f"! {line}" for line in story.faults(game)]
            page.append(story.result(game))
        yield page


def has_keys() -> bool:
    """Whether there is a keyboard to step with."""
    return sys.stdin.isatty() and sys.platform != "win32"


def by_keys(match: Line, games: Sequence[GameRecord], seed: bytes) -> None:
    """Steps through games by keys until q."""
    at, game = 0, 0
    shown = list(pages(match, games[game], seed))
    keys = "n next · p previous · ] [ game · g first · e end · q quit"
    while True:
        output.screen().clear()
        for line in shown[at]:
            output.told(line)
        output.hint(f"\nstep {at + 1} of {len(shown)} · {keys}")
        key = _key()
        before = game
        if key in ("q", "\x03", "\x04"):
            return
        if key in ("n", " ", "\r", "\n", "right", "down", "j", "l"):
            at = min(at + 1, len(shown) - 1)
        elif key in ("p", "left", "up", "k", "h"):
            at = max(at - 1, 0)
        elif key == "g":
            at = 0
        elif key == "e":
            at = len(shown) - 1
        elif key == "]":
            game = min(game + 1, len(games) - 1)
        elif key == "[":
            game = max(game - 1, 0)
        if game != before:
            at, shown = 0, list(pages(match, games[game], seed))


_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}


def _key() -> str:
    """The next key; arrows by name."""
    pressed = _character()
    if pressed == "\x1b" and _character() == "[":
        return _ARROWS.get(_character(), "")
    return pressed or "q"


def _character() -> str:
    import os
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        return os.read(descriptor, 1).decode(errors="replace")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

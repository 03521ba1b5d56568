"""Step through recorded games: as pages of text, or by keys in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from arena.cli import output
from arena.cli.key_input import keyboard
from arena.cli.matches import story
from arena.cli.pictures.registry import picture_of
from arena.presentation.narration import result, seat_names
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import steps

Page = list[str]
_KEYS = "n next · p previous · g first · e last · ] next game · [ game before · q quit"
_STEPS = {
    **dict.fromkeys(("n", " ", "\n", "\r", "l", "j", "right", "down"), 1),
    **dict.fromkeys(("p", "\x7f", "h", "k", "left", "up"), -1),
    "g": -sys.maxsize,
    "e": sys.maxsize,
}
_OTHER_GAME = {"]": 1, "[": -1}
_QUIT = ("q", "\x04")


def pages(match: Line, game: GameRecord, seed: bytes) -> Iterator[Page]:
    """Yield every position of a game as lines of text, with the actions made in it."""
    names = seat_names(game)
    picture = picture_of(match["game"])
    rules = find(match["game"])
    heading = story.title(match, game)
    for step, ended, _ in story.chapters(picture, steps(match, game, seed)):
        page = [heading]
        if ended is not None:
            page += picture.closing(step.state, ended, names)
        page += picture.position(step.state, names)
        page += [f"> {story.move(rules, line, names)}" for line in step.lines]
        if not step.lines:
            page += [f"! {line}" for line in story.faults(game)]
            page.append(result(game))
        yield page


def by_keys(match: Line, games: Sequence[GameRecord], seed: bytes) -> None:
    """Step through games by keys until a key quits."""
    game, at = 0, 0
    shown = list(pages(match, games[game], seed))
    with keyboard() as next_key:
        while True:
            output.screen().clear()
            for line in shown[at]:
                output.told(line)
            output.hint(f"\nstep {at + 1} of {len(shown)} · {_KEYS}")
            key = next_key()
            if key in _QUIT:
                return
            if key in _OTHER_GAME:
                before, game = game, min(max(game + _OTHER_GAME[key], 0), len(games) - 1)
                if game != before:
                    at, shown = 0, list(pages(match, games[game], seed))
            at = min(max(at + _STEPS.get(key, 0), 0), len(shown) - 1)

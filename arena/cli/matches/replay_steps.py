"""Step through recorded games: as pages of text, or by keys in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from arena.cli import output
from arena.cli.key_input import keyboard
from arena.cli.matches import story
from arena.presentation import text
from arena.presentation.frames import rendered_steps
from arena.presentation.narration import result, seat_names
from arena.presentation.registry import presentation_of
from referee.games.registry import find
from referee.record import GameRecord, Line

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


def pages(match: Line, game: GameRecord, seed: bytes, width: int = text.WIDTH) -> Iterator[Page]:
    """Yield every position of a game as lines of text, with the actions made in it."""
    names = seat_names(game)
    rules = find(match["game"])
    hidden = presentation_of(match["game"]).hidden
    heading = story.title(match, game)
    for step, rendering in rendered_steps(match, game, seed):
        whole = replace(rendering, below=(*rendering.below, *hidden(step.state)))
        page = [heading, *text.lines(whole, width)]
        page += [f"> {story.move(rules, line, names)}" for line in step.lines]
        if not step.lines:
            page += [f"! {line}" for line in story.faults(game)]
            page.append(result(game))
        yield page


def by_keys(match: Line, games: Sequence[GameRecord], seed: bytes) -> None:
    """Step through games by keys until a key quits."""
    game, at = 0, 0
    shown = list(pages(match, games[game], seed, output.screen().width))
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
                    at, shown = 0, list(pages(match, games[game], seed, output.screen().width))
            at = min(max(at + _STEPS.get(key, 0), 0), len(shown) - 1)

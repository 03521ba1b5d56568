"""Positions with the largest contents of a form, for which a live table reserves space.

The page of a live table contains one position, and must not change its height with the next one.
The rules limit the number of cards in most zones, but the longest texts depend on the course of a
game. So the largest contents are taken from random games of the form.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from arena.presentation.frames import FrameSequence, frame_sequence, largest_steps
from referee.games.contract import Game, Options, OptionValue, State
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.presentation.elements import TableRendering
from referee.presentation.question_text import rendered

GAMES = 10
"""Number of random games; with more, only rare lengths of texts change."""
Settings = tuple[tuple[str, OptionValue], ...]
"""The value of every option of a game."""
MAX_POSITIONS = 5_000
"""Number of positions after which a random game is not continued."""


def live_frames(
    rendering: TableRendering, game: str, options: Mapping[str, object]
) -> FrameSequence:
    """Return a position as a frame sequence that has space for every position of its form."""
    names = tuple(seat.name for seat in rendering.seats)
    settings = tuple(find_game(game).settle(options).items())
    return frame_sequence([rendering], _reserved(game, names, settings))


@lru_cache(maxsize=64)
def _reserved(game: str, names: tuple[str, ...], settings: Settings) -> tuple[TableRendering, ...]:
    """Return renderings that together have the largest content of each part."""
    rules, options = find_game(game), dict(settings)
    largest = _largest(game, len(names), settings)
    return tuple(_render(rules, state, names, options) for state in largest)


@lru_cache(maxsize=32)
def _largest(game: str, seats: int, settings: Settings) -> tuple[State, ...]:
    """Return positions of random games which together have the largest content of each part."""
    rules, options = find_game(game), dict(settings)
    names = tuple(f"seat {seat}" for seat in range(seats))
    candidates: list[State] = []
    for number in range(GAMES):
        states = list(_random_game(rules, seats, options, number))
        renderings = [_render(rules, state, names, options) for state in states]
        candidates += [states[step] for step in sorted(largest_steps(renderings))]
    renderings = [_render(rules, state, names, options) for state in candidates]
    return tuple(candidates[step] for step in sorted(largest_steps(renderings)))


def _random_game(rules: Game, seats: int, options: Options, number: int) -> Iterator[State]:
    """Yield the positions of a random game; the number determines it."""
    rng = random.Random(f"{rules.id}/{seats}/{number}")
    state = rules.start(Seeded(rng.randbytes(32)), seats, options)
    for _ in range(MAX_POSITIONS):
        yield state
        if not state.actors:
            return
        state = state.play({seat: state.legal(seat).any(rng) for seat in state.actors})


def _render(rules: Game, state: State, names: Sequence[str], options: Options) -> TableRendering:
    return rendered(rules, options, state.public(), None, names, state.actors)

"""Random games of a table, position by position, and the questions in them."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

from pokearena.v1 import bot_pb2

from referee.game_checks.tables import Table
from referee.game_codec import GameCodec
from referee.games.contract import Action, Legal, State, View
from referee.games.shared.dealing import Seeded

Moves = Mapping[int, Action]
Viewer = int | None
"""A seat, or None for a spectator."""

TOO_LONG = 20_000
"""Maximum length of a random game; a longer game counts as endless."""


@dataclass(frozen=True)
class Step:
    """A position and the actions in it; no actions in the last one."""

    state: State
    moves: Moves


def dice(*named: object) -> random.Random:
    """Return a random number generator that is seeded by the names."""
    return random.Random("/".join(map(str, named)))


def choose(legal: Legal, rng: random.Random) -> Action:
    """Return a random listed action; the last one, usually the largest, has a higher
    probability."""
    listed = list(legal)
    return listed[-1] if rng.random() < 0.2 else rng.choice(listed)


def go_on(state: State, rng: random.Random) -> Iterator[Step]:
    """Yield a random game from this position to its end."""
    for _ in range(TOO_LONG):
        moves = {seat: choose(state.legal(seat), rng) for seat in state.actors}
        yield Step(state, moves)
        if not moves:
            return
        state = state.play(moves)
    raise AssertionError(f"the game does not end within {TOO_LONG:,} positions")


# Consecutive checks of a table use the same games.
@lru_cache(maxsize=64)
def walk(table: Table, number: int) -> tuple[Step, ...]:
    """Return the random game with this number at a table."""
    rng = dice(table, number)
    return tuple(go_on(table.start(Seeded(rng.randbytes(32))), rng))


def seen(state: State, viewer: Viewer) -> View:
    """Return the view of a seat or a spectator."""
    return state.public() if viewer is None else state.view(viewer)


def question(codec: GameCodec, state: State, seat: Viewer) -> bytes:
    """Return the message to a seat or a spectator, with the fields that depend on the position."""
    if seat is None:
        return codec.view(state.public())
    if seat not in state.actors:
        return codec.question(bot_pb2.ActRequest(seat=seat), state.view(seat), ())
    legal = state.legal(seat)
    head = bot_pb2.ActRequest(seat=seat, complete=legal.complete)
    return codec.question(head, state.view(seat), legal)


def texts_in(value: Any) -> set[str]:
    """Return all texts in a value at any depth."""
    if isinstance(value, str):
        return {value}
    if is_dataclass(value):
        return set().union(*(texts_in(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, tuple):
        return set().union(*map(texts_in, value))
    return set()

"""Values of positions for luck-adjusted results: ends of playouts by the policy of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.records.analysis.engine import Engine, engine_of
from arena.records.luck_adjustment.rubber import rubber_values
from referee.games.contract import State
from referee.games.poke import Poke

Floats = NDArray[np.float64]
RATINGS: Final = 2
"""Kinds of values of a position: the chance to win on any scale, and points."""
CHANCE, POINTS = range(RATINGS)


class PositionValues(Protocol):
    """Values of positions, estimated by playouts."""

    def sample(self, state: State) -> Floats:
        """Return the values after one playout, by kind of value and seat."""


class PlayoutValues:
    """The rating of an engine and the points at the end of a deal."""

    def __init__(self, engine: Engine, sides: Sequence[int]) -> None:
        self._engine, self._sides = engine, sides

    def sample(self, state: State) -> Floats:
        end = played_out(self._engine, state)
        seats = range(len(self._sides))
        return np.array(
            [[self._engine.rating(end, seat, self._sides) for seat in seats], list(end.scores)]
        )


class PokeValues:
    """The expected result of the rubber at the end of a deal of Poke."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rubber = rubber_values()

    def sample(self, state: State) -> Floats:
        chance, lead = self._rubber.of(played_out(self._engine, state))
        return np.array([[chance, 1 - chance], [lead / 2, -lead / 2]])


def played_out(engine: Engine, root: State) -> State:
    """Return the end of a playout by the engine's policy."""
    state = root
    while (actors := state.actors) and not engine.over(root, state):
        state = state.after({seat: engine.move(state, seat) for seat in actors})
    return state


def values_of(game: str, sides: Sequence[int]) -> PositionValues:
    """Return the values of positions of a game.

    Raises:
        NoEngine: no engine plays this game.
    """
    engine = engine_of(game)
    return PokeValues(engine) if game == Poke.id else PlayoutValues(engine, sides)

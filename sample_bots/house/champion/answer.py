"""Result of a search."""

from collections.abc import Callable
from dataclasses import dataclass

from referee.games.contract import Action

Hurry = Callable[[], bool]
"""Returns whether the time is nearly used up."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen action, its value, and the number of playouts."""

    action: Action
    value: float
    playouts: int

"""Result of a search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from referee.games.contract import Action

Hurry = Callable[[], bool]
"""Returns whether the time is nearly used up."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen action, its value, and the number of playouts."""

    action: Action
    value: float
    playouts: int


class Search(Protocol):
    """The search of a game for a number of seats and a number of nodes."""

    def choose(self, state: Any, seat: int, seed: bytes, hurry: Hurry) -> Choice:
        """Return the best action; the same for the same seed if time suffices."""

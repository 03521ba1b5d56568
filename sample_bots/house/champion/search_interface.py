"""Interface between the bot and the searches of the games."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from referee.games.contract import Action

DeadlineCheck = Callable[[], bool]
"""Returns whether the time of the decision is nearly used up."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best action of a search."""

    action: Action
    value: float
    """Expected result, from -1 (lost) to 1 (won); 0.0 without playouts."""
    playouts: int
    """Number of simulated deals or games; 0 if the action was chosen without simulation."""


class GameSearch(Protocol):
    """The search of one game, created for a number of seats and a playout factor."""

    def choose(
        self, state: Any, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action for a seat.

        The same seed gives the same result, unless the time is used up.
        """

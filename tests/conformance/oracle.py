"""The interface of oracles: facts about a game that the suite needs to check re-deals.

A new game adds its oracle to :mod:`tests.conformance.oracles`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from referee.game_checks.random_games import Moves, Step
from referee.games.contract import Action, State
from referee.games.shared.dealing import Chance

Part = tuple[object, ...]


@dataclass(frozen=True)
class GameHistory:
    luck: Chance
    turns: Sequence[Moves]


class Oracle(ABC):
    """Facts about a game, implemented independently of it."""

    ordered: ClassVar[frozenset[type]] = frozenset()
    """Types of actions in which the order of the elements matters."""

    def usual(self, action: Action) -> Action:
        """Return the form in which an action is listed, if several forms are equivalent."""
        return action

    @abstractmethod
    def cards(self, state: State) -> list[str]:
        """Return all cards of the game, wherever they are; the set never changes."""

    @abstractmethod
    def hidden(self, state: State, seat: int | None) -> dict[str, Part]:
        """Return the hidden information of a seat or of a spectator (None), by name."""

    @abstractmethod
    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> GameHistory:
        """Construct a game with other cards that leads to the position ``dealt``.

        Each of its turns corresponds to one of the original game, and the seat's actions are
        equal. The rules determine the legal actions and their results.

        Args:
            played: the original game from its beginning to a position, which is the last element.
            dealt: the same position, dealt again for a seat.
            seat: the seat, or None for a spectator.
        """

"""Facts about each game that the suite needs to check its dealing: one oracle per game.

A game that is added brings its oracle to :mod:`tests.conformance.oracles`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from referee.games.contract import Action, State
from referee.games.shared.dealing import Chance
from tests.conformance.walks import Moves, Step

Part = tuple[object, ...]


@dataclass(frozen=True)
class Story:
    """What chance decided, and what was done from the beginning."""

    luck: Chance
    turns: Sequence[Moves]


class Oracle(ABC):
    """Knows a game from outside."""

    ordered: ClassVar[frozenset[type]] = frozenset()
    """Actions in which the order of things has a meaning."""

    def usual(self, action: Action) -> Action:
        """The action as it is listed, where several forms mean the same."""
        return action

    @abstractmethod
    def cards(self, state: State) -> list[str]:
        """All that is in the game, wherever it is; nothing ever comes or goes."""

    @abstractmethod
    def hidden(self, state: State, seat: int | None) -> dict[str, Part]:
        """Return the hidden information of a seat or of a spectator (None), by name."""

    @abstractmethod
    def story(self, played: Sequence[Step], dealt: State, seat: int | None) -> Story:
        """A game with other cards that comes to the position ``dealt``.

        Every turn of it corresponds to one of the game that was played, and the seat does the
        same in both. The rules determine the legal actions and their results.

        Args:
            played: a game from its beginning to a position, which comes last.
            dealt: the same position dealt again for a seat.
            seat: the seat; None is a spectator.
        """

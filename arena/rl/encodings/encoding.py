"""How a game's typed actions and views become numbers.

A decision is narrowed down: the legal actions are sorted into numbered groups, a group is chosen,
and what is left is sorted again, until one action is left. In most games every group is one
action from the beginning, so that a decision is one step. A step in which there is one group of
several actions is left out.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from arena.rl.vector import Numbers
from referee.games.contract import Action, View

Groups = Mapping[int, Sequence[Action]]
"""What may be chosen: the actions of each number; empty for a seat that is not asked."""


class Encoding(ABC):
    """The encoding of one form of a game. It is made from what a seat knows alone."""

    game: ClassVar[str]
    size: int
    """Numbers from 0 to this, itself not included, stand for groups of actions."""

    def __init__(self, seats: int) -> None:
        self.seats = seats

    @abstractmethod
    def groups(self, view: View, actions: Sequence[Action]) -> Groups:
        """Sorts the actions that are left; no number has none, all together are all of them."""

    @abstractmethod
    def observe(self, view: View, seat: int, groups: Groups) -> Numbers:
        """What the seat knows, from its own eyes: seats are told from its own on."""

    def from_here(self, seat: int) -> tuple[int, ...]:
        """The seats, the own one first."""
        return tuple((seat + step) % self.seats for step in range(self.seats))


def places(cards: Sequence[str], hand: Sequence[str]) -> tuple[int, ...]:
    """The places of cards in a hand, the lowest first."""
    return tuple(sorted(hand.index(card) for card in cards))


def alone(numbered: Mapping[int, Action]) -> Groups:
    """Groups of one action each."""
    return {number: (action,) for number, action in numbered.items()}

"""What is legal in Saint Poker (docs/rules/saint_poker.md)."""

from dataclasses import dataclass
from itertools import combinations
from random import Random

from referee.cards import in_order
from referee.games.contract import Action, Spelled, Words
from referee.games.saint_poker.words import Hand, PickUp, River, Show


@dataclass(frozen=True, slots=True)
class Rivers(Spelled):
    """One card of the hand for the river; the lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, River) and action.card in self.hand

    def words(self) -> Words:
        yield River, zip(self.hand)

    def any(self, chance: Random) -> Action:
        return River(chance.choice(self.hand))


@dataclass(frozen=True, slots=True)
class Shows(Spelled):
    """Two cards of the hand; the lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Show(cards):
                return len(cards) == 2 == len(set(cards)) and all(c in self.hand for c in cards)
        return False

    def words(self) -> Words:
        yield Show, zip(combinations(self.hand, 2))

    def any(self, chance: Random) -> Action:
        return Show(chance.choice(list(combinations(self.hand, 2))))


@dataclass(frozen=True, slots=True)
class PickUps(Spelled):
    """One of the cards that lie on the table; the lowest first."""

    lying: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, PickUp) and action.card in self.lying

    def words(self) -> Words:
        yield PickUp, zip(in_order(self.lying))

    def any(self, chance: Random) -> Action:
        return PickUp(chance.choice(in_order(self.lying)))

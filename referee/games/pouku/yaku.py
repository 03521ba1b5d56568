"""Yaku, the combinations of Pouku: their points and groups (docs/rules/pouku.md, U-2)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from referee.games.shared.cards import RANK, Card

PAIR = "pair"
THREE = "three"
FOUR = "four"
STRAIGHT = "straight"

GROUPS = {2: PAIR, 3: THREE, 4: FOUR}
SHORTEST = 4
"""Number of cards in the shortest straight."""
LONGEST = 13
ACE = 14
LOW_ACE = 1


@dataclass(frozen=True, slots=True)
class Values:
    """The table of points; each entry is an option of the game."""

    pair: int = 1
    three: int = 3
    straight: int = 2
    """Points of a straight of four; each further card adds 1."""
    four: int = 7
    point: int = 2
    four_yaku: int = 1
    first_turn: int = 1

    def group(self, size: int) -> int:
        """Return the points of 2, 3 or 4 cards of a rank."""
        return (self.pair, self.three, self.four)[size - 2]

    def of(self, name: str, cards: Collection[Card]) -> int:
        """Return the points of a yaku."""
        if name == STRAIGHT:
            return self.straight + len(cards) - SHORTEST
        return self.group(len(cards))


def name_of(cards: Collection[Card]) -> str | None:
    """Return the name of the yaku formed by these distinct cards; None if they do not form one."""
    ranks = sorted({RANK[c] for c in cards})
    size = len(cards)
    if len(ranks) == 1:
        return GROUPS.get(size)
    if len(ranks) < size or not SHORTEST <= size <= LONGEST:
        return None
    if ranks[-1] - ranks[0] == size - 1:
        return STRAIGHT
    if ranks[-1] == ACE and ranks[-2] == size:  # a low ace, below the two
        return STRAIGHT
    return None


def in_sequence(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Sort the cards of a yaku, lowest first; a low ace comes first."""
    order = sorted(cards, key=lambda c: (RANK[c], c))
    if RANK[order[0]] == 2 and RANK[order[-1]] == ACE and len(order) < LONGEST:
        order.insert(0, order.pop())
    return tuple(order)

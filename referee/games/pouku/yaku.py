"""The combinations of Pouku and what they are worth (docs/rules/pouku.md, U-2)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from referee.cards import RANK, Card

PAIR = "pair"
THREE = "three"
FOUR = "four"
STRAIGHT = "straight"

GROUPS = {2: PAIR, 3: THREE, 4: FOUR}
SHORTEST = 4
"""Cards of the shortest straight."""
LONGEST = 13
ACE = 14
LOW_ACE = 1


@dataclass(frozen=True, slots=True)
class Values:
    """The table of points: one option of the game each."""

    pair: int = 1
    three: int = 3
    straight: int = 2
    """Of a straight of four; each further card is worth 1 more."""
    four: int = 7
    point: int = 2
    four_yaku: int = 1
    first_turn: int = 1

    def group(self, size: int) -> int:
        """What 2, 3 or 4 cards of a rank are worth."""
        return (self.pair, self.three, self.four)[size - 2]

    def of(self, name: str, cards: Collection[Card]) -> int:
        """What a yaku is worth."""
        if name == STRAIGHT:
            return self.straight + len(cards) - SHORTEST
        return self.group(len(cards))


def name_of(cards: Collection[Card]) -> str | None:
    """The name of the yaku that these different cards are, or None if they are none."""
    ranks = sorted({RANK[c] for c in cards})
    size = len(cards)
    if len(ranks) == 1:
        return GROUPS.get(size)
    if len(ranks) < size or not SHORTEST <= size <= LONGEST:
        return None
    if ranks[-1] - ranks[0] == size - 1:
        return STRAIGHT
    if ranks[-1] == ACE and ranks[-2] == size:  # the ace stands below the two
        return STRAIGHT
    return None


def in_sequence(cards: Iterable[Card]) -> tuple[Card, ...]:
    """The cards of a yaku, the lowest first; an ace that stands below the two comes first."""
    order = sorted(cards, key=lambda c: (RANK[c], c))
    if RANK[order[0]] == 2 and RANK[order[-1]] == ACE and len(order) < LONGEST:
        order.insert(0, order.pop())
    return tuple(order)

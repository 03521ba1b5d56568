"""Yaku, the combinations of Pouku: their points and groups (docs/rules/pouku.md, U-2)."""

from collections.abc import Collection, Iterable, Iterator
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


# Groups formed by the field cards of one rank with the hand's cards of that rank.

ONE = 1 << 6
"""Score of one point. Lower bits count yaku: of equal points, more yaku are better."""

Part = tuple[int, int]
"""A yaku as (number of field cards, size).

Size 0 means the straight that the hand's other ranks complete.
"""
Way = tuple[int, int, tuple[Part, ...]]
"""Number of yaku, their score, and the yaku."""
Ways = tuple[Way, ...]

NOTHING: Ways = ((0, 0, ()),)


def ways(values: Values, hand: int, fields: int, whole: bool, several: bool) -> Ways:
    """Return the best ways to use the field cards of a rank.

    Args:
        values: the table of points.
        hand: number of hand cards of the rank; each may be used in any number of yaku.
        fields: number of field cards of the rank; each is used at most once.
        whole: whether the hand is a straight of four, so that one field card makes another.
        several: whether to return the best way for every number of yaku, or only the best.
    """
    best: dict[int, Way] = {}
    for parts in _partitions(hand, fields, whole):
        score = sum(_score(values, part) for part in parts)
        count = len(parts) if several else 0
        if count not in best or best[count][1] < score:
            best[count] = (len(parts), score, parts)
    return tuple(best[count] for count in sorted(best))


def _score(values: Values, part: Part) -> int:
    return ONE * (values.group(part[1]) if part[1] else values.straight) + 1


def _partitions(hand: int, fields: int, whole: bool) -> Iterator[tuple[Part, ...]]:
    """Yield all ways to partition the field cards; some repeat in another order.

    The field cards of a rank are interchangeable.
    """
    yield ()
    for used in range(1, fields + 1):
        sizes = [size for size in GROUPS if used <= size <= used + hand]
        if whole and used == 1:
            sizes.append(0)
        for size in sizes:
            for others in _partitions(hand, fields - used, whole):
                yield ((used, size), *others)

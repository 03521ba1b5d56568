"""Groups formed by the field cards of one rank with the hand's cards of that rank."""

from collections.abc import Iterator

from referee.games.pouku.yaku import GROUPS, Values

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

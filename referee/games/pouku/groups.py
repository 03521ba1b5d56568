"""What the field cards of one rank make beside the hand's cards of it."""

from collections.abc import Iterator

from referee.games.pouku.yaku import GROUPS, Values

ONE = 1 << 6
"""A point in a score; what is below counts yaku, since more of them are better for the same."""

Part = tuple[int, int]
"""A yaku: its field cards, and its size; 0 is the straight that the hand's other ranks complete."""
TunnelEndpoint = tuple[int, int, tuple[Part, ...]]
"""How many yaku, their score, and the yaku."""
Ways = tuple[TunnelEndpoint, ...]

NOTHING: Ways = ((0, 0, ()),)


def ways(values: Values, hand: int, fields: int, whole: bool, several: bool) -> Ways:
    """The best ways to use the field cards of a rank.

    Args:
        values: the table of points.
        hand: cards of the rank in the hand that any of the yaku may use.
        fields: cards of the rank in the fields; each is used once.
        whole: whether the hand is a straight of four, so that one field card makes another.
        several: whether the best way for every number of yaku is asked for, or the best alone.
    """
    best: dict[int, TunnelEndpoint] = {}
    for parts in _partitions(hand, fields, whole):
        score = sum(_score(values, part) for part in parts)
        count = len(parts) if several else 0
        if count not in best or best[count][1] < score:
            best[count] = (len(parts), score, parts)
    return tuple(best[count] for count in sorted(best))


def _score(values: Values, part: Part) -> int:
    return ONE * (values.group(part[1]) if part[1] else values.straight) + 1


def _partitions(hand: int, fields: int, whole: bool) -> Iterator[tuple[Part, ...]]:
    """All ways; some come twice in another order, the field cards being the same."""
    yield ()
    for used in range(1, fields + 1):
        sizes = [size for size in GROUPS if used <= size <= used + hand]
        if whole and used == 1:
            sizes.append(0)
        for size in sizes:
            for others in _partitions(hand, fields - used, whole):
                yield ((used, size), *others)

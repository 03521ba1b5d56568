"""Groups that the field cards of one rank form with the hand's cards of that rank (U-2)."""

from collections.abc import Iterator

from referee.games.pouku.yaku import GROUPS, Values

POINT_UNIT = 1 << 6
"""Score of one point. Lower bits count yaku: of equal points, more yaku are better."""

Part = tuple[int, int]
"""A yaku as (number of field cards, size).

Size 0 means the straight that the hand's other ranks complete.
"""
GroupChoice = tuple[int, int, tuple[Part, ...]]
"""Number of yaku, their score, and the yaku."""
GroupChoices = tuple[GroupChoice, ...]

NO_GROUPS: GroupChoices = ((0, 0, ()),)


def best_group_choices(
    values: Values, hand: int, fields: int, completes_straight: bool, per_count: bool
) -> GroupChoices:
    """Return the best choices of groups from the field cards of a rank.

    Args:
        values: the table of points.
        hand: number of hand cards of the rank; each may be used in any number of yaku.
        fields: number of field cards of the rank; each is used at most once.
        completes_straight: whether the hand is a straight of four, so that one field card makes
            another.
        per_count: whether to return the best choice for every number of yaku, or only the best.
    """
    best: dict[int, GroupChoice] = {}
    for parts in _partitions(hand, fields, completes_straight):
        score = sum(_score(values, part) for part in parts)
        count = len(parts) if per_count else 0
        if count not in best or best[count][1] < score:
            best[count] = (len(parts), score, parts)
    return tuple(best[count] for count in sorted(best))


def _score(values: Values, part: Part) -> int:
    return POINT_UNIT * (values.group(part[1]) if part[1] else values.straight) + 1


def _partitions(hand: int, fields: int, completes_straight: bool) -> Iterator[tuple[Part, ...]]:
    """Yield all ways to partition the field cards; some repeat in another order.

    The field cards of a rank are interchangeable.
    """
    yield ()
    for used in range(1, fields + 1):
        sizes = [size for size in GROUPS if used <= size <= used + hand]
        if completes_straight and used == 1:
            sizes.append(0)
        for size in sizes:
            for others in _partitions(hand, fields - used, completes_straight):
                yield ((used, size), *others)

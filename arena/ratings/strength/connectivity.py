"""Connected components of entrants: by matches, and by points taken from each other."""

from collections.abc import Iterable, Mapping, Sequence

Edges = Iterable[tuple[str, str]]


def components(names: Iterable[str], edges: Edges) -> tuple[tuple[str, ...], ...]:
    """Return the groups of entrants that are connected by meetings, the largest first.

    Strengths of different groups are not comparable, because no match connects them. Groups of
    equal size, and the names within a group, are sorted by name.
    """
    neighbours: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for first, second in edges:
        neighbours[first].append(second)
        neighbours[second].append(first)
    left = set(neighbours)
    groups = []
    for name in neighbours:
        if name in left:
            group = _reached(name, neighbours)
            left -= group
            groups.append(tuple(sorted(group)))
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def all_within_reach(names: Sequence[str], took: Edges) -> bool:
    """Return whether each entrant has, directly or via others, taken points from each other one.

    Only then does the fit without a prior have a maximum (Ford 1957; Zermelo 1929).
    """
    forth: dict[str, list[str]] = {name: [] for name in names}
    back: dict[str, list[str]] = {name: [] for name in names}
    for winner, loser in took:
        forth[winner].append(loser)
        back[loser].append(winner)
    everyone = set(names)
    return all(_reached(names[0], ways) == everyone for ways in (forth, back)) if names else True


def _reached(start: str, ways: Mapping[str, Sequence[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for name in ways[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached

"""Connected components of entrants by matches."""

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


def _reached(start: str, ways: Mapping[str, Sequence[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for name in ways[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached

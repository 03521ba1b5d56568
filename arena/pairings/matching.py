"""Pairs from a crowd, everyone in one: what is wished for first, and what keeps that possible.

A perfect matching is kept all the time. A wish is granted if the matching can be mended around
it, which one search for an augmenting path decides: Edmonds' blossom algorithm ("Paths, trees,
and flowers", 1965) in the usual form, a breadth-first search that keeps the base of each blossom.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set

FREE = -1
Friends = Sequence[Sequence[int]]


def pair_up(
    size: int,
    allowed: Callable[[int, int], bool],
    wishes: Callable[[int, Sequence[int]], Iterable[int]],
) -> list[tuple[int, int]] | None:
    """Return pairs of 0 .. size - 1, or None if there is no way to pair everybody.

    allowed: whether two may be paired; symmetric.
    wishes: of one, all who are unpaired (given in ascending order), the best liked first.
        The lower numbers choose first.
    """
    friends = [[b for b in range(size) if b != a and allowed(a, b)] for a in range(size)]
    mates = [FREE] * size
    for one in range(size):
        if mates[one] == FREE and not _augment(friends, mates, one, set()):
            return None
    done: set[int] = set()
    pairs = []
    for one in range(size):
        if one in done:
            continue
        unpaired = [other for other in range(one + 1, size) if other not in done]
        for other in wishes(one, unpaired):
            if allowed(one, other) and _grant(friends, mates, one, other, done):
                break
        done |= {one, mates[one]}
        pairs.append((one, mates[one]))
    return pairs


def _grant(friends: Friends, mates: list[int], one: int, other: int, done: Set[int]) -> bool:
    """Pair two if the others can still be paired; `done` are no longer to be moved."""
    if mates[one] == other:
        return True
    trial = mates.copy()
    left, right = mates[one], mates[other]
    trial[one], trial[other] = other, one
    trial[left] = trial[right] = FREE
    if not _augment(friends, trial, left, done | {one, other}):
        return False
    mates[:] = trial
    return True


def _augment(friends: Friends, mates: list[int], root: int, fixed: Set[int]) -> bool:
    """Find an alternating path from a free root to another free one, and swap along it."""
    search = _Search(friends, mates, root, fixed)
    end = search.run()
    while end != FREE:
        before = search.parent[end]
        following = mates[before]
        mates[end], mates[before] = before, end
        end = following
    return mates[root] != FREE


class _Search:
    """One breadth-first search; `parent` leads back from a free end to the root."""

    def __init__(self, friends: Friends, mates: list[int], root: int, fixed: Set[int]) -> None:
        self._friends, self._mates, self._root, self._fixed = friends, mates, root, fixed
        self.parent = [FREE] * len(mates)
        self._base = list(range(len(mates)))
        self._outer = [False] * len(mates)
        self._queue = deque([root])
        self._outer[root] = True

    def run(self) -> int:
        """Return a free vertex that has been reached, or FREE."""
        while self._queue:
            one = self._queue.popleft()
            for other in self._friends[one]:
                if other in self._fixed or self._mates[one] == other:
                    continue
                if self._base[one] == self._base[other]:
                    continue
                mate = self._mates[other]
                if other == self._root or (mate != FREE and self.parent[mate] != FREE):
                    self._contract(one, other)
                elif self.parent[other] == FREE:
                    self.parent[other] = one
                    if mate == FREE:
                        return other
                    self._outer[mate] = True
                    self._queue.append(mate)
        return FREE

    def _contract(self, one: int, other: int) -> None:
        """Make a blossom of the odd circle that the edge between two outer ones closes."""
        base = self._meeting(one, other)
        inside = [False] * len(self._mates)
        self._mark(one, base, other, inside)
        self._mark(other, base, one, inside)
        for vertex, its_base in enumerate(self._base):
            if inside[its_base]:
                self._base[vertex] = base
                if not self._outer[vertex]:
                    self._outer[vertex] = True
                    self._queue.append(vertex)

    def _meeting(self, one: int, other: int) -> int:
        """Return the base at which the ways back of two outer vertices meet."""
        seen = set()
        while True:
            one = self._base[one]
            seen.add(one)
            if self._mates[one] == FREE:
                break
            one = self.parent[self._mates[one]]
        while self._base[other] not in seen:
            other = self.parent[self._mates[self._base[other]]]
        return self._base[other]

    def _mark(self, vertex: int, base: int, child: int, inside: list[bool]) -> None:
        """Mark a side of the circle, and let its inner vertices lead back through the edge."""
        while self._base[vertex] != base:
            mate = self._mates[vertex]
            inside[self._base[vertex]] = inside[self._base[mate]] = True
            self.parent[vertex] = child
            child = mate
            vertex = self.parent[mate]

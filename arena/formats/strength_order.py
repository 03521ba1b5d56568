"""Keep entrants in order of strength, and find the most informative pair of neighbours.

`LeastMetPairing` chooses adaptive matches with it.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from math import inf

from arena.formats.table_pool import Clans

Turn = tuple[int, int]


class StrengthOrder:
    """Entrants ordered by estimated strength, the strongest first, equal ones by turn.

    The caller reports entrants that have changed; the gains of other pairs stay cached.

    Args:
        names: the entrants.
        mean: the estimated strength of an entrant.
        turn: the position of an entrant in the waiting queue.
        gain: the information gain of a match between two entrants.
        neighbours: number of lower neighbours in the order, outside the entrant's own clan, that
            are considered as its opponents.
        clan: the clan of each entrant.
    """

    def __init__(
        self,
        names: Iterable[str],
        mean: Callable[[str], float],
        turn: Callable[[str], Turn],
        gain: Callable[[str, str], float],
        neighbours: int,
        clan: Clans,
    ) -> None:
        self._mean, self._turn, self._gain = mean, turn, gain
        self._neighbours, self._clan = neighbours, clan
        self._key = {name: self._key_of(name) for name in names}
        self.names = sorted(self._key, key=self._key.__getitem__)
        self._keys = [self._key[name] for name in self.names]
        self._best = {name: self._best_of(place) for place, name in enumerate(self.names)}
        # Entries that differ from `_best` and `_key` are out of date, and are removed when found.
        self._leaders = [(-best, self._key[name], name) for name, best in self._best.items()]
        heapify(self._leaders)

    def best(self) -> tuple[str, str]:
        """Return the pair with the largest gain; of equal pairs the first in the order."""
        while not self._is_current(self._leaders[0]):
            heappop(self._leaders)
        leader = self._leaders[0][2]
        rivals = self._below(bisect_left(self._keys, self._key[leader]))
        return leader, max(rivals, key=lambda rival: self._gain(leader, rival))

    def changed(self, names: Iterable[str]) -> None:
        """Update entrants whose turns or gains have changed."""
        names = [name for name in names if name in self._key]
        touched: set[str] = set()
        for name in names:
            place = bisect_left(self._keys, self._key[name])
            touched.update(self._above(place))
            del self.names[place], self._keys[place]
        for name in names:
            key = self._key[name] = self._key_of(name)
            insort(self._keys, key)
            self.names.insert(bisect_left(self._keys, key), name)
        for name in names:
            touched.update((name, *self._above(bisect_left(self._keys, self._key[name]))))
        for name in touched:
            best = self._best[name] = self._best_of(bisect_left(self._keys, self._key[name]))
            heappush(self._leaders, (-best, self._key[name], name))

    def _is_current(self, entry: tuple[float, tuple[float, Turn], str]) -> bool:
        best, key, name = entry
        return best == -self._best[name] and key == self._key[name]

    def _key_of(self, name: str) -> tuple[float, Turn]:
        return -self._mean(name), self._turn(name)

    def _best_of(self, place: int) -> float:
        name = self.names[place]
        return max((self._gain(name, other) for other in self._below(place)), default=-inf)

    def _below(self, place: int) -> Iterator[str]:
        """Yield the opponents considered for the entrant at a place: its lower neighbours."""
        left = self._neighbours
        for at in range(place + 1, len(self.names)):
            if not left:
                return
            if self._clan[self.names[at]] != self._clan[self.names[place]]:
                left -= 1
                yield self.names[at]

    def _above(self, place: int) -> Iterator[str]:
        """Yield a superset of the entrants for which the one at a place is considered."""
        between = Counter[Hashable]()
        for at in range(place - 1, -1, -1):
            # Whatever clan a higher entrant has, enough other opponents are between it and this
            # place.
            if between.total() - max(between.values(), default=0) >= self._neighbours:
                return
            yield self.names[at]
            between[self._clan[self.names[at]]] += 1

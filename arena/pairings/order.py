"""Entrants by what is thought of their strength, and which close pair a match would say most of."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from math import inf

from arena.pairings.tables import Clans

Turn = tuple[int, int]


class Order:
    """The strongest first, equal ones by turn.

    It is told who has changed; what a match of two others would say stays known.

    gain: what a match of two would say. neighbours: so many below it in the order are thought of
    for everyone, other than those of its clan.
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

    def best(self) -> tuple[str, str]:
        """The two whose match says most; of equal pairs the first in the order."""
        one = max(self.names, key=self._best.__getitem__)
        others = self._below(bisect_left(self._keys, self._key[one]))
        return one, max(others, key=lambda other: self._gain(one, other))

    def changed(self, names: Iterable[str]) -> None:
        """The turns of these are others now, or what a match of theirs would say."""
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
            self._best[name] = self._best_of(bisect_left(self._keys, self._key[name]))

    def _key_of(self, name: str) -> tuple[float, Turn]:
        return -self._mean(name), self._turn(name)

    def _best_of(self, place: int) -> float:
        one = self.names[place]
        return max((self._gain(one, other) for other in self._below(place)), default=-inf)

    def _below(self, place: int) -> Iterator[str]:
        """Whom the one in a place is thought of with."""
        left = self._neighbours
        for at in range(place + 1, len(self.names)):
            if not left:
                return
            if self._clan[self.names[at]] != self._clan[self.names[place]]:
                left -= 1
                yield self.names[at]

    def _above(self, place: int) -> Iterator[str]:
        """Who is thought of with the one in a place; perhaps more."""
        between = Counter[Hashable]()
        for at in range(place - 1, -1, -1):
            # Whatever the clan of those further up, enough others come before this place.
            if between.total() - max(between.values(), default=0) >= self._neighbours:
                return
            yield self.names[at]
            between[self._clan[self.names[at]]] += 1

"""Who waits on a ladder: by even matches, and within as many of them by turn."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping


class Line:
    """Entrants by how many even matches they have had, those who have waited longest first.

    Who plays goes to the end, so nobody is ever sorted again: finding who comes next takes the
    same time among ten thousand as among ten.

    waiting: everyone in the order of the turns. even: how many even matches each has had.
    """

    def __init__(self, waiting: Iterable[str], even: Mapping[str, int]) -> None:
        self._level = {name: even[name] for name in waiting}
        self._levels: dict[int, OrderedDict[str, None]] = {}
        for name, level in self._level.items():
            self._levels.setdefault(level, OrderedDict())[name] = None

    def heads(self) -> Iterator[str]:
        """Who has waited longest among those of as many even matches."""
        for names in self._levels.values():
            yield next(iter(names))

    def groups(self, slack: int) -> Iterator[Iterator[str]]:
        """Those within so many of the least together, and then each further number by itself.

        Within a group first those with fewer even matches, of equal ones who has waited longest.
        """
        levels = sorted(self._levels)
        close = [level for level in levels if level <= levels[0] + slack]
        yield (name for level in close for name in self._levels[level])
        for level in levels[len(close) :]:
            yield iter(self._levels[level])

    def played(self, names: Iterable[str], is_even: bool) -> None:
        """These play now, in the order of their seeds."""
        for name in names:
            level = self._level[name]
            here = self._levels[level]
            del here[name]
            if not here:
                del self._levels[level]
            self._level[name] = level + is_even
            self._levels.setdefault(level + is_even, OrderedDict())[name] = None

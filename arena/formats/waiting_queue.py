"""Find the entrants of a ladder that play next: those with the fewest even matches, by waiting."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping


class WaitingQueue:
    """The waiting queue: entrants by number of even matches, the longest waiting first.

    An entrant that plays moves to the end of its level, so the queue is never sorted again. The
    time to find the next entrant does not depend on the number of entrants.

    Args:
        waiting: all entrants in order of their turns.
        even: number of even matches of each entrant.
    """

    def __init__(self, waiting: Iterable[str], even: Mapping[str, int]) -> None:
        self._level = {name: even[name] for name in waiting}
        self._levels: dict[int, OrderedDict[str, None]] = {}
        for name, level in self._level.items():
            self._levels.setdefault(level, OrderedDict())[name] = None

    def heads(self) -> Iterator[str]:
        """Yield the longest waiting entrant of each level."""
        for names in self._levels.values():
            yield next(iter(names))

    def groups(self, slack: int) -> Iterator[Iterator[str]]:
        """Yield groups of entrants: the levels within `slack` of the lowest, then each further one.

        Within a group, entrants with fewer even matches come first, equal ones by waiting time.
        """
        levels = sorted(self._levels)
        close = [level for level in levels if level <= levels[0] + slack]
        yield (name for level in close for name in self._levels[level])
        for level in levels[len(close) :]:
            yield iter(self._levels[level])

    def played(self, names: Iterable[str], is_even: bool) -> None:
        """Move entrants that play now, in order of their turns, to the end of their levels."""
        for name in names:
            level = self._level[name]
            queue = self._levels[level]
            del queue[name]
            if not queue:
                del self._levels[level]
            self._level[name] = level + is_even
            self._levels.setdefault(level + is_even, OrderedDict())[name] = None

"""Order of waiting matches: those of tournaments that end precede those of ladders.

A ladder always has due matches. Without an order of their own, the matches of a new tournament
would wait for all matches of ladders that wait already.
"""

from collections import deque
from collections.abc import Sequence

from arena.store.matches.transitions import DueMatches

LADDER_TURN = 3
"""Number of other matches after which the next match is one of a ladder."""


class WaitingOrder:
    """Arranges the queue, and remembers which kinds of matches were taken from it last."""

    def __init__(self) -> None:
        self._urgent: frozenset[str] = frozenset()
        self._others: set[str] = set()
        self._arranged: list[str] = []
        self._since_ladder = 0

    def note(self, due: DueMatches) -> None:
        """Learn the kinds of due matches."""
        self._urgent = frozenset(due.urgent)
        self._others.intersection_update(self._arranged)
        self._others.update(match for match in due.others if match not in due.of_ladders)

    def count_taken(self, waiting: Sequence[str]) -> None:
        """Count the matches that workers have taken since the last arrangement."""
        still_waiting = set(waiting)
        for match in self._arranged:
            if match in still_waiting or match in self._urgent:
                continue
            self._since_ladder = self._since_ladder + 1 if match in self._others else 0

    def arrange(self, waiting: Sequence[str]) -> list[str]:
        """Return the waiting matches in the order in which workers should take them.

        Urgent matches stay in front. A match of a ladder follows after each `LADDER_TURN` others.
        Within each of the three groups the order is unchanged.
        """
        urgent = [match for match in waiting if match in self._urgent]
        plain = [match for match in waiting if match not in self._urgent]
        others = deque(match for match in plain if match in self._others)
        ladders = deque(match for match in plain if match not in self._others)
        order, since_ladder = urgent, self._since_ladder
        while others or ladders:
            if ladders and (not others or since_ladder >= LADDER_TURN):
                order.append(ladders.popleft())
                since_ladder = 0
            else:
                order.append(others.popleft())
                since_ladder += 1
        self._arranged = order
        return order

"""A budget of work that one bot's bytes may cause in the referee, as a deterministic cost.

Bytes from a bot cost the referee processor time: frames are taken apart, headers unpacked,
messages parsed. A limit on bytes or frames per second would make the verdict depend on the speed
of the machine, so each kind of input has a cost in units instead. One unit is about one
microsecond of the processor on the machine it was calibrated on (``bench/work_budget.py``); the
weights are upper bounds.

A bot starts with `START` units and receives `PER_QUESTION` more with every question, up to
`LARGEST`. The budget belongs to a bot's seat at a table: neither a new connection nor a new
process renews it.
"""

import math
from typing import Final

START: Final = 50_000.0
"""Units for everything before the first question: connections, settings, the answer to Start."""
PER_QUESTION: Final = 4_000.0
"""Units that come with a question. An honest answer costs 50 to 150."""
LARGEST: Final = 800_000.0
"""The most that can be saved up: less than a second of the processor."""
BACKSTOP: Final = 10.0
"""Measured processor time, in multiples of the cost, that is taken for a failure of the arena."""
BACKSTOP_SECONDS: Final = 0.5
"""Measured time below which the backstop does nothing."""

CONNECTION: Final = 300.0
READ: Final = 15.0
"""Bytes that arrive together."""
FRAME: Final = 10.0
FRAME_BYTE: Final = 0.01
SETTING: Final = 2.0
HEADER_BYTE: Final = 3.0
"""Of a compressed block of headers: a byte can name a field of a hundred bytes."""
MESSAGE: Final = 10.0
MESSAGE_BYTE: Final = 0.3
"""Of a protobuf message: two bytes can be an answer of its own."""
UNPACKED_BYTE: Final = 0.02


class BudgetExceeded(Exception):
    """A bot has caused more work than it may. `Budget.clause` describes what it sent."""


class Budget:
    """The budget of one bot at a table.

    Attributes:
        left: units that are left; minus infinity once more was needed than was left.
        granted: units granted since the table began.
        measured: seconds of measured processor time.
    """

    __slots__ = ("_kinds", "granted", "left", "measured")

    def __init__(self, start: float = START) -> None:
        """Begin with some units; ``math.inf`` for a peer that is trusted."""
        self.left = start
        self.granted = start
        self.measured = 0.0
        self._kinds: dict[str, list[float]] = {}
        """How many of each kind of input came, and what they cost."""

    def grant(self, questions: int) -> None:
        """Add the units that come with questions."""
        more = PER_QUESTION * questions
        self.granted += more
        if self.left < LARGEST:
            self.left = min(self.left + more, LARGEST)

    def charge(self, kind: str, cost: float) -> None:
        """Spend units, before the work is done.

        Args:
            kind: what the bot sent, in the plural: "SETTINGS frames".
            cost: units.

        Raises:
            BudgetExceeded: less is left, now or at an earlier time.
        """
        entry = self._kinds.get(kind)
        if entry is None:
            entry = self._kinds[kind] = [0.0, 0.0]
        entry[0] += 1
        entry[1] += cost
        self.left -= cost
        if self.left < 0:
            self.left = -math.inf
            raise BudgetExceeded(self.clause)

    @property
    def exceeded(self) -> bool:
        """Whether more was needed than was left, once."""
        return self.left < 0

    @property
    def spent(self) -> float:
        """The units spent since the table began."""
        return sum(cost for _, cost in self._kinds.values())

    @property
    def overrun(self) -> bool:
        """Whether the measured time is so far above the cost that the cost cannot be right.

        That is a failure of the arena, not of the bot: the verdict must not depend on the speed
        of the machine.
        """
        return (
            self.measured > BACKSTOP_SECONDS
            and not self.exceeded
            and self.measured > BACKSTOP * self.spent / 1e6
        )

    @property
    def clause(self) -> str:
        """What the bot sent, as a clause about it for a verdict."""
        if not self._kinds:
            return "it has sent nothing"
        kind = max(self._kinds, key=lambda name: self._kinds[name][1])
        return (
            f"it sent {self._kinds[kind][0]:,.0f} {kind}, which is more work for the referee than "
            f"the budget of a bot allows ({PER_QUESTION:,.0f} units a question; "
            "docs/containment.md)"
        )

"""Work budget: a deterministic limit on the work that one bot's bytes cause in the referee.

A bot's bytes cost processor time: frames are parsed, headers decompressed, messages parsed. A limit
on bytes or frames per second would make the verdict depend on the speed of the machine. Each kind
of input therefore has a cost in units. One unit is about one microsecond of the processor on the
calibration machine (``bench/work_budget.py``); the weights are upper bounds.

A bot starts with `START` units and receives `PER_QUESTION` more with every question, up to
`LARGEST`. The budget belongs to a bot's seat at a table: neither a new connection nor a new process
renews it.
"""

import math
from typing import Final

START: Final = 50_000.0
"""Units for all input before the first question: connections, settings, the answer to Start."""
PER_QUESTION: Final = 4_000.0
"""Units added per question. A normal answer costs 50 to 150."""
LARGEST: Final = 800_000.0
"""Maximum balance, equal to less than a second of processor time."""
BACKSTOP: Final = 10.0
"""Factor of measured processor time over the cost above which the arena is at fault."""
BACKSTOP_SECONDS: Final = 0.5
"""Measured seconds below which the backstop does not apply."""

CONNECTION: Final = 300.0
READ: Final = 15.0
"""Cost of one read, a group of bytes that arrive together."""
FRAME: Final = 10.0
FRAME_BYTE: Final = 0.01
SETTING: Final = 2.0
HEADER_BYTE: Final = 3.0
"""Cost per byte of a compressed header block: a byte can refer to a field of a hundred bytes."""
MESSAGE: Final = 10.0
MESSAGE_BYTE: Final = 0.3
"""Cost per byte of a protobuf message: two bytes can form a complete answer."""
UNPACKED_BYTE: Final = 0.02


class BudgetExceeded(Exception):
    """A bot has caused more work than allowed. `WorkBudget.clause` describes its input."""


class WorkBudget:
    """The budget of one bot at a table.

    Attributes:
        left: remaining units; minus infinity after the budget has been exceeded.
        granted: units granted since the table began.
        measured: measured processor time in seconds.
    """

    __slots__ = ("_kinds", "granted", "left", "measured")

    def __init__(self, start: float = START) -> None:
        """Set the initial balance in units; ``math.inf`` for a trusted peer."""
        self.left = start
        self.granted = start
        self.measured = 0.0
        self._kinds: dict[str, list[float]] = {}
        """Number and total cost of each kind of input."""

    def grant(self, questions: int) -> None:
        """Add the units for a number of questions."""
        more = PER_QUESTION * questions
        self.granted += more
        if self.left < LARGEST:
            self.left = min(self.left + more, LARGEST)

    def charge(self, kind: str, cost: float) -> None:
        """Deduct units before the work is done.

        Args:
            kind: the kind of input in the plural: "SETTINGS frames".
            cost: units.

        Raises:
            BudgetExceeded: the balance is insufficient, or was so before.
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

    def refund(self, kind: str, cost: float) -> None:
        """Return a part of the units of an earlier charge, whose work was cheaper."""
        self._kinds[kind][1] -= cost
        self.left += cost

    @property
    def exceeded(self) -> bool:
        """Return whether a charge has exceeded the balance."""
        return self.left < 0

    @property
    def spent(self) -> float:
        """Return the units charged since the table began."""
        return sum(cost for _, cost in self._kinds.values())

    @property
    def overrun(self) -> bool:
        """Return whether the measured time is too far above the cost for the cost to be correct.

        That is a failure of the arena, not of the bot: the verdict must not depend on the speed of
        the machine.
        """
        return (
            self.measured > BACKSTOP_SECONDS
            and not self.exceeded
            and self.measured > BACKSTOP * self.spent / 1e6
        )

    @property
    def clause(self) -> str:
        """Describe the most expensive input as a clause about the bot, for a verdict."""
        if not self._kinds:
            return "it has sent nothing"
        kind = max(self._kinds, key=lambda name: self._kinds[name][1])
        return (
            f"it sent {self._kinds[kind][0]:,.0f} {kind}, which is more work for the referee than "
            f"the budget of a bot allows ({PER_QUESTION:,.0f} units a question; "
            "docs/explanation/containment.md)"
        )

"""Budgets for the work that remote bots cause in the relay, per owner.

All bots of an owner share a budget, in units of about one microsecond of processor time. Questions
that pass through the relay add to it, and messages from the bots spend it. Time adds a little, so
that a bot whose budget is spent can connect again later. No verdict depends on this: a connection
that exceeds the budget is closed, and the clock of a table goes on.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

START: Final = 50_000.0
LARGEST: Final = 800_000.0
PER_SECOND: Final = 2_000.0
"""Units that time adds, up to START: 0.2 % of a core."""
PER_QUESTION_MESSAGE: Final = 4_000.0
PER_QUESTION_BYTE: Final = 15.0
"""A question has at least a hundred bytes, and an answer in a message of its own costs 310 units:
an honest bot spends at most a fifth of what its questions add."""

CONNECTION: Final = 2_000.0
"""A first message: its token is looked up, and the store is told who is connected."""
MESSAGE: Final = 300.0
"""``grpc.aio`` takes 236 to 303 microseconds for a message of a stream."""
MESSAGE_BYTE: Final = 0.05
_MOST_OWNERS: Final = 10_000


@dataclass(slots=True)
class _Account:
    left: float
    at: float


class WorkBudgets:
    """The budgets of all owners; those unused for longest are forgotten, and start anew."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def charge(self, owner: str, units: float, now: float) -> bool:
        """Spend units of an owner's budget.

        Args:
            owner: whose bot sent something.
            units: its cost.
            now: seconds of a monotonic clock.

        Returns:
            Whether the budget sufficed.
        """
        account = self._account(owner, now)
        account.left -= units
        return account.left >= 0

    def grant(self, owner: str, request_bytes: int, now: float) -> None:
        """Add the units that come with a message of questions of so many bytes."""
        account = self._account(owner, now)
        more = PER_QUESTION_MESSAGE + PER_QUESTION_BYTE * request_bytes
        account.left = max(account.left, min(account.left + more, LARGEST))

    def wait(self, owner: str, now: float) -> int:
        """Return the seconds until a connection of this owner can be paid for; 0 for at once."""
        lacking = CONNECTION - self._account(owner, now).left
        return math.ceil(lacking / PER_SECOND) if lacking > 0 else 0

    def _account(self, owner: str, now: float) -> _Account:
        account = self._accounts.get(owner)
        if account is None:
            account = self._accounts[owner] = _Account(START, now)
            if len(self._accounts) > _MOST_OWNERS:
                self._accounts.popitem(last=False)
        self._accounts.move_to_end(owner)
        if account.left < START:
            account.left = min(START, account.left + (now - account.at) * PER_SECOND)
        account.at = now
        return account


def cost_of(message_bytes: int) -> float:
    """Return the units that a message of so many bytes costs."""
    return MESSAGE + MESSAGE_BYTE * message_bytes

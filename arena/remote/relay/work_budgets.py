"""Budgets, per owner, for the work that remote bots cause in the relay.

All bots of an owner share a budget, in units of about one microsecond of processor time. Questions
that pass through the relay increase it, and messages from the bots reduce it. Time adds a little,
so that a bot with an exhausted budget can reconnect later. Verdicts do not depend on the budget: a
connection that exceeds it is closed, and the table's clock continues.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

START: Final = 50_000.0
MAX_UNITS: Final = 800_000.0
PER_SECOND: Final = 2_000.0
"""Units added per second, up to START: 0.2 % of a core."""
PER_QUESTION_MESSAGE: Final = 4_000.0
PER_QUESTION_BYTE: Final = 15.0
"""Units added per byte of a question.

A question has at least 100 bytes, and an answer in a message of its own costs 310 units. An honest
bot therefore spends at most a fifth of the units that its questions add.
"""

CONNECTION: Final = 2_000.0
"""Cost of a first message: a lookup of the token and a write of the presence to the store."""
MESSAGE: Final = 300.0
"""Cost of a message. ``grpc.aio`` takes 236 to 303 microseconds for a message of a stream."""
MESSAGE_BYTE: Final = 0.05
_MOST_OWNERS: Final = 10_000


@dataclass(slots=True)
class _Account:
    left: float
    at: float


class WorkBudgets:
    """The budgets of all owners.

    Beyond _MOST_OWNERS, the least recently used budget is dropped and later restarts at START.
    """

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def charge(self, owner: str, units: float, now: float) -> bool:
        """Spend units of an owner's budget.

        Args:
            owner: the owner of the bot that sent a message.
            units: the cost of the message.
            now: seconds of a monotonic clock.

        Returns:
            Whether the budget sufficed.
        """
        account = self._account(owner, now)
        account.left -= units
        return account.left >= 0

    def grant(self, owner: str, request_bytes: int, now: float) -> None:
        """Add the units for a request to an owner's bot, up to MAX_UNITS."""
        account = self._account(owner, now)
        more = PER_QUESTION_MESSAGE + PER_QUESTION_BYTE * request_bytes
        account.left = max(account.left, min(account.left + more, MAX_UNITS))

    def wait(self, owner: str, now: float) -> int:
        """Return the seconds until the owner's budget covers a connection, rounded up; 0 if now."""
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
    """Return the cost of a message of this size, in units."""
    return MESSAGE + MESSAGE_BYTE * message_bytes

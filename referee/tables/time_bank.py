"""Time of one seat: its allowance for each decision, and the bank for what is beyond."""

from collections.abc import Sequence

from pokearena.v1 import bot_pb2

from referee.faults import TimeSpent
from referee.running_game import OpenQuestion, RunningGame

Batch = Sequence[tuple[RunningGame, OpenQuestion]]
"""Questions of one message, each with its game."""


class TimeBank:
    """The remaining time of a seat. Time beyond the allowances is taken from the bank.

    Attributes:
        bank_ms: milliseconds left in the bank.
        clock: the remaining time as sent to the bot; a changed time is a new object.
    """

    __slots__ = ("_allowance_ms", "bank_ms", "clock")

    def __init__(self, allowance_ms: int, bank_ms: float) -> None:
        """Begin with the allowance of a decision and the bank of a table, in milliseconds."""
        self._allowance_ms = allowance_ms
        self.bank_ms = bank_ms
        self.clock = self._clock(last_ms=0)

    def _clock(self, last_ms: int) -> bot_pb2.Clock:
        return bot_pb2.Clock(
            allowance_ms=self._allowance_ms, bank_ms=int(self.bank_ms), last_ms=last_ms
        )

    def limit(self, batch: Batch) -> float:
        """Return the time limit in seconds for a message with these questions."""
        return (_allowances_ms(batch) + self.bank_ms) / 1000

    def charge(self, elapsed_ms: float, batch: Batch, seat: int) -> TimeSpent:
        """Take what is beyond the allowances from the bank.

        Args:
            elapsed_ms: time until the answer to the message.
            batch: the questions of the message. Its games share the deduction equally.
            seat: number of the seat in these games.

        Returns:
            the time used, with the limit and the bank as they were when the bot was asked.
        """
        allowance_ms = int(batch[0][1].allowance_ms) if len(batch) == 1 else self._allowance_ms
        limit_ms = 1000 * self.limit(batch)
        spent = TimeSpent(elapsed_ms, limit_ms, allowance_ms, self.bank_ms, len(batch))
        beyond = max(0.0, min(self.bank_ms, elapsed_ms - _allowances_ms(batch)))
        self.bank_ms -= beyond
        self.clock = self._clock(last_ms=round(elapsed_ms / len(batch)))
        for game, _ in batch:
            game.bank_ms[seat] += beyond / len(batch)
        return spent


def _allowances_ms(batch: Batch) -> float:
    return sum(question.allowance_ms for _, question in batch)

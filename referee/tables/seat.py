"""A seat of a table: its bot, its clock and its faults."""

import asyncio
from dataclasses import dataclass, field

from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import CRASHES_TO_FORFEIT, FAULTS_TO_FORFEIT, Fault, TimeSpent
from referee.running_game import OpenQuestion, RunningGame
from referee.tables.bot_client import BotClient

GAMES_IN_FLIGHT = 128
"""Maximum number of games of a table that run at the same time."""


@dataclass(slots=True)
class TableSeat:
    """State of one seat of a table."""

    number: int
    bot: BotClient
    allowance_ms: int
    bank_ms: float
    unforgiving: bool = False
    """Whether the first fault forfeits the rest of the table."""
    faults: int = 0
    """Faults counted at this table, without crashes."""
    crashes: int = 0
    games_in_flight: int = 1
    wants_legal: bool = True
    ready: bool = False
    """Whether its bot has started and can receive questions."""
    out: bool = False
    """Whether it has forfeited the rest of the table."""
    init_fault: Fault | None = None
    """Why its bot could not be started; None once a game's record contains it."""
    ended: asyncio.Future[referee_pb2.BotReport] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Report on the end of its process, when received."""
    waiting: list[tuple[RunningGame, OpenQuestion]] = field(default_factory=list)
    """Questions for the next message."""
    messages: int = 0
    """Number of messages sent."""
    busy: bool = False
    """Whether a task sends questions to its bot or is queued to do so."""
    clock: bot_pb2.Clock = field(init=False)
    """The remaining time as sent to the bot."""

    def __post_init__(self) -> None:
        self._tell_clock()
        self._judge()

    def _tell_clock(self) -> None:
        self.clock = bot_pb2.Clock(allowance_ms=self.allowance_ms, bank_ms=int(self.bank_ms))

    def limit(self, questions: int) -> float:
        """Return the time limit in seconds for a message with this number of questions."""
        return (questions * self.allowance_ms + self.bank_ms) / 1000

    def spent(self, elapsed_ms: float, questions: int) -> TimeSpent:
        """Return the time used by a message with this number of questions.

        Call it before :meth:`charge`, which reduces the bank.
        """
        limit_ms = 1000 * self.limit(questions)
        return TimeSpent(elapsed_ms, limit_ms, self.allowance_ms, self.bank_ms, questions)

    def charge(self, elapsed_ms: float, plays: list[RunningGame]) -> None:
        """Deduct the time beyond the allowances from the bank, split equally between the games.

        Args:
            elapsed_ms: the time of the message.
            plays: the games of its questions, one per question.
        """
        beyond = min(self.bank_ms, elapsed_ms - len(plays) * self.allowance_ms)
        if beyond <= 0:
            return
        self.bank_ms -= beyond
        self._tell_clock()
        for play in plays:
            play.bank_ms[self.number] += beyond / len(plays)

    def heard(self, response: bot_pb2.StartResponse) -> None:
        """Store the capabilities in the bot's answer to Start."""
        self.games_in_flight = min(max(1, response.games_in_flight), GAMES_IN_FLIGHT)
        self.wants_legal = not response.without_legal
        self.ready = True

    def replace_bot(self, address: str) -> BotClient:
        """Connect the seat to a new process; return the client of the old one for closing."""
        old, self.bot = self.bot, BotClient(address, self.bot.budget)
        self.ready = False
        self.ended = asyncio.get_running_loop().create_future()
        return old

    def count_fault(self, play: RunningGame) -> None:
        """Count a fault, for the seat and the game.

        The third fault, at an unforgiving table the first, forfeits the rest of the table.
        """
        self.faults += 1
        play.faults[self.number] += 1
        self._judge()

    def count_crash(self, play: RunningGame | None, times: int = 1) -> None:
        """Count a lost process.

        The second, at an unforgiving table the first, forfeits the rest of the table.
        """
        self.crashes += times
        if play is not None:
            play.crashes[self.number] += times
        self._judge()

    def _judge(self) -> None:
        """Put the seat out if its faults or crashes reach the limit."""
        if self.unforgiving:
            too_many = self.faults + self.crashes > 0
        else:
            too_many = self.faults >= FAULTS_TO_FORFEIT or self.crashes >= CRASHES_TO_FORFEIT
        self.out = self.out or too_many

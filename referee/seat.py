"""A seat of a table: its bot, its clock, and the faults that are counted against it."""

import asyncio
from dataclasses import dataclass, field

from pokearena.v1 import bot_pb2, referee_pb2

from referee.bot_client import Bot
from referee.play import Asked, Play
from referee.verdict import CRASHES_TO_FORFEIT, FAULTS_TO_FORFEIT, Fault, Spent

GAMES_IN_FLIGHT = 128
"""The most games of a table that are played at the same time."""


@dataclass(slots=True)
class Seat:
    """What a table keeps of one seat."""

    number: int
    bot: Bot
    allowance_ms: int
    bank_ms: float
    unforgiving: bool = False
    """Whether the first fault forfeits the rest of the table."""
    faults: int = 0
    """Faults counted at this table, crashes aside."""
    crashes: int = 0
    games_in_flight: int = 1
    wants_legal: bool = True
    ready: bool = False
    """Whether its bot has been started and may be asked."""
    out: bool = False
    """Whether it has forfeited the rest of the table."""
    init_fault: Fault | None = None
    """Why its bot could not be started, until a game has it in its record."""
    ended: asyncio.Future[referee_pb2.BotReport] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """The news that its process ended, once it came."""
    waiting: list[tuple[Play, Asked]] = field(default_factory=list)
    """Questions for the next message."""
    messages: int = 0
    """How many it has been sent."""
    busy: bool = False
    """Whether its bot is being asked, or is about to be."""
    clock: bot_pb2.Clock = field(init=False)
    """What the seat has left, as its bot is told."""

    def __post_init__(self) -> None:
        self._tell_clock()
        self._judge()

    def _tell_clock(self) -> None:
        self.clock = bot_pb2.Clock(allowance_ms=self.allowance_ms, bank_ms=int(self.bank_ms))

    def limit(self, questions: int) -> float:
        """The seconds the bot has for a message of so many questions."""
        return (questions * self.allowance_ms + self.bank_ms) / 1000

    def spent(self, elapsed_ms: float, questions: int) -> Spent:
        """The time of a message of so many questions; to be asked before it is charged."""
        limit_ms = 1000 * self.limit(questions)
        return Spent(elapsed_ms, limit_ms, self.allowance_ms, self.bank_ms, questions)

    def charge(self, elapsed_ms: float, plays: list[Play]) -> None:
        """Draws from the bank what a message took beyond its allowances, shared by its games."""
        beyond = min(self.bank_ms, elapsed_ms - len(plays) * self.allowance_ms)
        if beyond <= 0:
            return
        self.bank_ms -= beyond
        self._tell_clock()
        for play in plays:
            play.bank_ms[self.number] += beyond / len(plays)

    def heard(self, response: bot_pb2.StartResponse) -> None:
        """Notes what the bot said it can and wants."""
        self.games_in_flight = min(max(1, response.games_in_flight), GAMES_IN_FLIGHT)
        self.wants_legal = not response.without_legal
        self.ready = True

    def replace_bot(self, address: str) -> Bot:
        """Seats a fresh process; returns the bot that was there."""
        old, self.bot = self.bot, Bot(address, self.bot.budget)
        self.ready = False
        self.ended = asyncio.get_running_loop().create_future()
        return old

    def count_fault(self, play: Play) -> None:
        """Counts a fault; the third (of an unforgiving table the first) forfeits its rest."""
        self.faults += 1
        play.faults[self.number] += 1
        self._judge()

    def count_crash(self, play: Play | None, times: int = 1) -> None:
        """Counts a lost process; the second (or the first) forfeits the rest of the table."""
        self.crashes += times
        if play is not None:
            play.crashes[self.number] += times
        self._judge()

    def _judge(self) -> None:
        """Puts the seat out if what has been counted is enough."""
        if self.unforgiving:
            too_many = self.faults + self.crashes > 0
        else:
            too_many = self.faults >= FAULTS_TO_FORFEIT or self.crashes >= CRASHES_TO_FORFEIT
        self.out = self.out or too_many

"""What an examination is given: the bot, how thorough to be, and what to say of it."""

import shlex
import time
from dataclasses import dataclass
from typing import Final

from pokearena.v1 import bot_pb2

from arena.bots.bot import Bot
from arena.store.matches.spec import MatchSpec
from arena.submissions.conformance.conversation import Talk
from arena.submissions.conformance.forms import CLOCK, Form
from arena.submissions.conformance.positions import clock_of

PATIENCE: Final = (CLOCK.allowance_ms + CLOCK.bank_ms) / 1000
"""Seconds a single question may take: all that a bot ever has for one."""


@dataclass(frozen=True, slots=True)
class Errand:
    """One examination of one bot."""

    bot: Bot
    content: str
    """Its content hash."""
    called: str
    """How it is typed on a command line."""
    seed: bytes
    """What all cards follow from, 32 bytes."""
    seeded: str
    """As it is typed to have the same cards again."""
    referee: str
    """A referee's address."""
    thorough: bool = True
    until: float = float("inf")
    """When to begin nothing more, by the monotonic clock."""
    at_once: int = 1
    """How many games the bot says it plays at the same time."""

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        return time.monotonic() >= self.until

    def ask(self, question: str, *flags: str) -> str:
        """The command that puts a question again."""
        return shlex.join(["pokearena", "ask", question, self.called, *flags])

    def again(self, game: str) -> str:
        """The command that tries a game again, the same way."""
        words = ["pokearena", "test", self.called, "--game", game, "--seed", self.seeded]
        return shlex.join(words + ["--quick"] * (not self.thorough))

    def talk(self, spec: MatchSpec, seat: int) -> Talk:
        """A conversation with the bot at a seat of this match."""
        told = bot_pb2.StartRequest(
            match=spec.id,
            game=spec.game,
            seats=spec.seats,
            seat=seat,
            options={name: str(value).lower() for name, value in spec.options.items()},
            games=spec.boards,
            clock=clock_of(spec.clock),
        )
        return Talk(self.bot, told, spec.clock.start_ms / 1000, PATIENCE)

    def papers(self, form: Form) -> tuple[int, int, int]:
        """The seat that is asked in a form, games to be searched, questions of every kind."""
        seat = sum(form.name.encode()) % form.seats
        return (seat, 16, 8) if self.thorough else (seat, 4, 2)

"""Parameters of an examination: the bot, its thoroughness, and the commands that repeat a test."""

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arena.bots.bot import Bot
from arena.bots.bot_session import BotSession
from arena.models.match_models import MatchModels
from arena.store.match_settings import MatchSettings
from arena.store.matches.spec import MatchSpec
from arena.submissions.conformance.examined_forms import CLOCK

QUESTION_SECONDS: Final = (CLOCK.allowance_ms + CLOCK.bank_ms) / 1000
"""Time limit of one question in seconds: allowance and bank, the maximum a bot can have."""

ModelsOf = Callable[[MatchSpec], MatchModels | None]
"""Returns the models of the first entrant of a match; None if it gets none."""


def no_models(spec: MatchSpec) -> MatchModels | None:
    return None


@dataclass(frozen=True, slots=True)
class ExaminationOrder:
    """One examination of one bot."""

    bot: Bot
    content: str
    """Content hash of the bot."""
    bot_argument: str
    """The bot as a command-line argument."""
    seed: bytes
    """Source of all cards, 32 bytes."""
    seed_argument: str
    """The seed as a command-line argument."""
    referee: str
    """Address of a referee."""
    thorough: bool = True
    until: float = float("inf")
    """Time of the monotonic clock after which no further questions are sent."""
    at_once: int = 1
    """Number of games the bot plays simultaneously, from its answer to Start."""
    models: ModelsOf = no_models

    @property
    def over(self) -> bool:
        """Whether `until` has passed."""
        return time.monotonic() >= self.until

    def ask_command(self, question: str, *flags: str) -> str:
        """Return the command that repeats a question."""
        return shlex.join(["pokearena", "ask", question, self.bot_argument, *flags])

    def test_command(self, game: str) -> str:
        """Return the command that repeats the tests of a game."""
        words = [
            "pokearena",
            "test",
            self.bot_argument,
            "--game",
            game,
            "--seed",
            self.seed_argument,
        ]
        return shlex.join(words + ["--quick"] * (not self.thorough))

    def session(self, spec: MatchSpec, seat: int) -> BotSession:
        """Return a session with the bot at a seat of this match."""
        opening = spec.start_request(spec.id, seat)
        return BotSession(self.bot, opening, spec.clock.start_ms / 1000, QUESTION_SECONDS)

    def question_arguments(self, form: MatchSettings) -> tuple[int, int, int]:
        """Return the arguments of `prepare_questions` for a form.

        Returns:
            The seat that receives questions, the number of games to search, and the maximum number
            of questions per kind.
        """
        seat = sum(form.form.encode()) % form.seats
        return (seat, 16, 8) if self.thorough else (seat, 4, 2)

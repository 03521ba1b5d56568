"""Why a seat stopped playing, in words that a person can act on (design, section 2)."""

from dataclasses import dataclass
from enum import StrEnum

from pokearena.v1 import bot_pb2


class Verdict(StrEnum):
    """The words for how a game ended for a seat."""

    FINISHED = "finished"
    INIT = "init"
    """The bot did not start."""
    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    PROTOCOL = "protocol"
    CRASH = "crash"
    RESOURCES = "resources"
    FORFEIT = "forfeit"
    """Earlier faults had put the seat out before this game was over."""
    INFRASTRUCTURE = "infrastructure"
    """The arena's own failure: never charged to a bot."""


PROCESS_FAULTS = frozenset({Verdict.CRASH, Verdict.RESOURCES})
"""Faults that cost the bot its process."""

FAULTS_TO_FORFEIT = 3
CRASHES_TO_FORFEIT = 2


@dataclass(frozen=True, slots=True)
class Spent:
    """The time of a message that a fault belongs to, in milliseconds.

    limit_ms: what there was. ms: what had passed when the answer, or the news of its lack, came.
    """

    ms: float
    limit_ms: float
    allowance_ms: int | None = None
    """Of one question; None for the start of a bot."""
    bank_ms: float | None = None
    """What was left in the bank when the message was sent; None for the start of a bot."""
    questions: int = 1
    """How many the message held: each has its allowance."""
    message: tuple[int, int] | None = None
    """Its number at its seat, and the question's place in it; None if messages follow the games."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a seat did wrong, with all that is needed to understand it and to try again."""

    seat: int
    game: int
    decision: int
    verdict: Verdict
    sentence: str
    question: bot_pb2.ActRequest | None = None
    spent: Spent | None = None
    answer: bot_pb2.Action | None = None
    """What it answered, if that is what was wrong."""
    ended: str = ""
    """How the bot's process ended, as a clause; empty while it runs."""
    exit_status: int | None = None
    """The status it exited with; None while it runs, or if a signal ended it."""
    signal: str = ""
    """The signal that ended it."""
    peak_memory: int = 0
    """The most bytes of memory that one of its processes has held; 0 if nobody knows."""
    output: str = ""
    """The tail of the bot's output."""
    output_in: int | None = None
    """The game whose fault has the output, if one loss is the fault of several games."""

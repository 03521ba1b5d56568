"""Verdicts and faults: why a seat stopped playing (docs/explanation/failures.md)."""

from dataclasses import dataclass
from enum import StrEnum

from pokearena.v1 import bot_pb2

FAULTS_TO_FORFEIT = 3
CRASHES_TO_FORFEIT = 2


class Verdict(StrEnum):
    """How a game ended for a seat."""

    FINISHED = "finished"
    INIT = "init"
    """The bot did not start."""
    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    PROTOCOL = "protocol"
    CRASH = "crash"
    RESOURCES = "resources"
    FORFEIT = "forfeit"
    """Earlier faults put the seat out before this game was over."""
    INFRASTRUCTURE = "infrastructure"
    """A failure of the arena itself; never charged to a bot."""


PROCESS_FAULTS = frozenset({Verdict.CRASH, Verdict.RESOURCES})
"""Faults in which the bot loses its process."""


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """Time used by the message of a fault, in milliseconds.

    limit_ms: the time limit. ms: the time until the answer arrived or the failure was detected.
    """

    ms: float
    limit_ms: float
    allowance_ms: int | None = None
    """Allowance of one question; None for the start of a bot."""
    bank_ms: float | None = None
    """Remaining bank when the message was sent; None for the start of a bot."""
    questions: int = 1
    """Number of questions in the message; each has its allowance."""
    message: tuple[int, int] | None = None
    """Number of the message at its seat, and index of the question in it.

    None if both follow from the games.
    """


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a seat, with all data needed to understand and reproduce it."""

    seat: int
    game: int
    decision: int
    verdict: Verdict
    sentence: str
    question: bot_pb2.ActRequest | None = None
    spent: TimeSpent | None = None
    answer: bot_pb2.Action | None = None
    """The bot's answer, if the answer is the fault."""
    ended: str = ""
    """How the bot's process ended, as a clause; empty while it runs."""
    exit_status: int | None = None
    """Exit status of the process; None while it runs or if a signal ended it."""
    signal: str = ""
    """The signal that ended the process."""
    peak_memory: int = 0
    """Peak memory in bytes of all its processes together; 0 if unknown.

    Without a control group, or while the process runs, it is that of the largest process.
    """
    output: str = ""
    """The tail of the bot's output."""
    output_in: int | None = None
    """The game whose fault has the output, if one process loss is the fault of several games."""

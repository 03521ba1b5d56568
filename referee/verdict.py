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
class Fault:
    """What a seat did wrong, with all that is needed to understand it and to try again."""

    seat: int
    game: int
    decision: int
    verdict: Verdict
    sentence: str
    question: bot_pb2.ActRequest | None = None
    ended: str = ""
    """How the bot's process ended, as a clause; empty while it runs."""
    output: str = ""
    """The tail of the bot's output."""

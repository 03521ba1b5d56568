"""How long the bots of a recorded match took for their decisions, and which was the slowest. Pure.

From a record the figures are exact; `arena.thinking` has those of many matches, to about 9 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from referee.record import GameRecord, MatchRecord


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that was made, and the milliseconds it took."""

    game: int
    decision: int
    ms: float

    def question(self, match: str) -> str:
        """What `pokearena ask` calls it: MATCH:GAME:DECISION."""
        return f"{match}:{self.game}:{self.decision}"

    def to_json(self, match: str) -> dict[str, Any]:
        """It as plain values, with how to ask for it."""
        return {
            "game": self.game,
            "decision": self.decision,
            "ms": self.ms,
            "question": self.question(match),
        }


@dataclass(frozen=True, slots=True)
class Pace:
    """The decisions of one bot in a match; what the referee played for it does not count."""

    decisions: int
    p50: float | None
    """Milliseconds within which half of the decisions were made; None if there was none."""
    p95: float | None
    p99: float | None
    slowest: Decision | None

    def to_json(self, match: str) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "decisions": self.decisions,
            "p50_ms": self.p50,
            "p95_ms": self.p95,
            "p99_ms": self.p99,
            "slowest_ms": None if self.slowest is None else self.slowest.ms,
            "slowest": None if self.slowest is None else self.slowest.to_json(match),
        }


def paces(record: MatchRecord) -> dict[str, Pace]:
    """The pace of every bot of a match, in the match's order."""
    names = [str(name) for name, _ in record.match["entrants"]]
    return {name: _pace(made(record.games, name)) for name in names}


def made(games: Iterable[GameRecord], name: str) -> list[Decision]:
    """The decisions that a bot made in some games, in their order."""
    return [
        Decision(game.number, line["decision"], line["ms"])
        for game in games
        for line in game.actions
        if game.game["seating"][line["seat"]] == name and line.get("by") != "referee"
    ]


def _pace(decisions: Sequence[Decision]) -> Pace:
    times = sorted(one.ms for one in decisions)
    # The first of equals, so that it is the same whoever asks.
    slowest = max(decisions, key=lambda one: one.ms, default=None)
    p50, p95, p99 = (_quantile(times, share) for share in (0.5, 0.95, 0.99))
    return Pace(len(times), p50, p95, p99, slowest)


def _quantile(times: Sequence[float], share: float) -> float | None:
    return times[math.ceil(share * len(times)) - 1] if times else None

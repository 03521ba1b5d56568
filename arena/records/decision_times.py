"""Compute the decision times of the bots in a recorded match, and the slowest decision. Pure.

These figures are exact; `arena.ratings.decision_histogram` has those of many matches, with an error
of about 9 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from arena.ratings.closed_match import PlayedGame
from arena.store.matches import results
from referee.record import GameRecord, MatchRecord, read_games


def slowest(
    engine: Engine, match: str, entrants: Sequence[str], games: Sequence[PlayedGame]
) -> list[Decision | None]:
    """Return the slowest decision of each entrant.

    Returns:
        One decision per entrant; None if it made no decision or its times were not recorded.
    """
    return [_slowest(engine, match, name, at, games) for at, name in enumerate(entrants)]


def _slowest(
    engine: Engine, match: str, name: str, at: int, games: Sequence[PlayedGame]
) -> Decision | None:
    """Read only games whose slowest time lies in the entrant's last bin, usually one or two."""
    longest = [(game.thinking[at].quantile(1.0) or 0.0, game) for game in games if game.thinking]
    last = max((time for time, _ in longest), default=0.0)
    candidates = [game for time, game in longest if time == last > 0]
    slowest: Decision | None = None
    for game in sorted(candidates, key=lambda game: (-game.slowest_ms, game.game)):
        if slowest is not None and slowest.ms >= game.slowest_ms:
            break
        (record,) = read_games(results.game_record(engine, match, game.game))
        decisions = [] if slowest is None else [slowest]
        slowest = max(
            [*decisions, *decisions_of([record], name)],
            key=lambda decision: decision.ms,
            default=slowest,
        )
    return slowest


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision and the time it took, in milliseconds."""

    game: int
    decision: int
    ms: float

    def question(self, match: str) -> str:
        """Return the decision's name for `pokearena ask`: MATCH:GAME:DECISION."""
        return f"{match}:{self.game}:{self.decision}"

    def to_json(self, match: str) -> dict[str, Any]:
        """Return the fields and the name of the question as JSON values."""
        return {
            "game": self.game,
            "decision": self.decision,
            "ms": self.ms,
            "question": self.question(match),
        }


@dataclass(frozen=True, slots=True)
class Pace:
    """Decision times of one bot in a match, without decisions that the referee made for it."""

    decisions: int
    p50: float | None
    """Median time in milliseconds; None without decisions."""
    p95: float | None
    p99: float | None
    slowest: Decision | None

    def to_json(self, match: str) -> dict[str, Any]:
        return {
            "decisions": self.decisions,
            "p50_ms": self.p50,
            "p95_ms": self.p95,
            "p99_ms": self.p99,
            "slowest_ms": None if self.slowest is None else self.slowest.ms,
            "slowest": None if self.slowest is None else self.slowest.to_json(match),
        }


def paces(record: MatchRecord) -> dict[str, Pace]:
    """Return the decision times of every bot of a match, in the match's order."""
    names = [str(name) for name, _ in record.match["entrants"]]
    return {name: _pace(decisions_of(record.games, name)) for name in names}


def decisions_of(games: Iterable[GameRecord], name: str) -> list[Decision]:
    """Return the decisions that a bot made in these games, in their order."""
    return [
        Decision(game.number, line["decision"], line["ms"])
        for game in games
        for line in game.actions
        if game.game["seating"][line["seat"]] == name and line.get("by") != "referee"
    ]


def _pace(decisions: Sequence[Decision]) -> Pace:
    times = sorted(decision.ms for decision in decisions)
    # The first of several equal ones, so that the choice is reproducible.
    slowest = max(decisions, key=lambda decision: decision.ms, default=None)
    p50, p95, p99 = (_quantile(times, share) for share in (0.5, 0.95, 0.99))
    return Pace(len(times), p50, p95, p99, slowest)


def _quantile(times: Sequence[float], share: float) -> float | None:
    return times[math.ceil(share * len(times)) - 1] if times else None

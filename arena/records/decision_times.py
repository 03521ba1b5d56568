"""How long the bots of a recorded match took for their decisions, and which was the slowest. Pure.

From a record the figures are exact; `arena.ratings.decision_histogram` has those of many matches,
to about 9 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from arena.store.matches import results
from arena.store.matches.results import ScoredGame
from referee.record import GameRecord, MatchRecord, read_games

# The slowest decision of every entrant of a match that is over, without reading all its games.


def slowest(
    engine: Engine, match: str, entrants: Sequence[str], games: Sequence[ScoredGame]
) -> list[Decision | None]:
    """By entrant; None for who made no decision, or whose times were never counted.

    games: the scorecard of the match.
    """
    return [_slowest(engine, match, name, at, games) for at, name in enumerate(entrants)]


def _slowest(
    engine: Engine, match: str, name: str, at: int, games: Sequence[ScoredGame]
) -> Decision | None:
    """Only games that share the last bin of its times can hold it, as a rule one or two."""
    longest = [(game.thinking[at].quantile(1.0) or 0.0, game) for game in games if game.thinking]
    last = max((time for time, _ in longest), default=0.0)
    holding = [game for time, game in longest if time == last > 0]
    found: Decision | None = None
    for game in sorted(holding, key=lambda one: (-one.slowest_ms, one.game)):
        if found is not None and found.ms >= game.slowest_ms:
            break
        (record,) = read_games(results.game_record(engine, match, game.game))
        decisions = [] if found is None else [found]
        found = max([*decisions, *made([record], name)], key=lambda one: one.ms, default=found)
    return found


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

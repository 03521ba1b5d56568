"""Results of one entrant in a closed match, as its page shows them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from arena.ratings.call_figures import CallFigures
from arena.ratings.decision_histogram import DecisionHistogram
from arena.records.decision_times import Decision


@dataclass(frozen=True, slots=True)
class EntrantResult:
    """Results of one entrant in a closed match.

    Args:
        wins: games it won alone.
        draws: games in which it shared the first place.
        losses: other games.
        share: mean score against the others, from 0 to 1.
        ahead: whether its share is the highest or equal to it.
        faults: games that ended with a fault of this entrant.
        longest: the slowest decision; None if unknown.
        corrections: answers that it corrected.
        defaults: default actions that it played.
        usage: its calls of models, as measured; None without any.
    """

    name: str
    wins: int
    draws: int
    losses: int
    points: int
    boards: int
    share: float
    ahead: bool
    faults: int
    thinking: DecisionHistogram
    longest: Decision | None
    corrections: int = 0
    defaults: int = 0
    usage: CallFigures | None = None

    def quantile(self, share: float) -> float | None:
        """Return a quantile of the decision times in milliseconds, accurate to about 9 %.

        The result is at most the time of the slowest decision.
        """
        bin_ms = self.thinking.quantile(share)
        return bin_ms if bin_ms is None or self.longest is None else min(bin_ms, self.longest.ms)

    @property
    def slowest(self) -> float | None:
        """Longest decision time in ms; accurate to about 9 % if the decision itself is unknown."""
        return self.quantile(1.0) if self.longest is None else self.longest.ms

    def to_json(self, match: str) -> dict[str, Any]:
        """Return the results as JSON values.

        Args:
            match: the match ID, for the address of the slowest decision.
        """
        return {
            "entrant": self.name,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "score": round(self.share, 6),
            "faults": self.faults,
            "corrections": self.corrections,
            "defaults": self.defaults,
            "decisions": self.thinking.decisions,
            "p50_ms": self.quantile(0.5),
            "p95_ms": self.quantile(0.95),
            "p99_ms": self.quantile(0.99),
            "slowest_ms": self.slowest,
            "measured_usage": self.usage and asdict(self.usage),
            "slowest": None if self.longest is None else self.longest.to_json(match),
        }

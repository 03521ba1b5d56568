"""Summarize an analysis: accuracy per bot and phase, luck per bot, and JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum
from typing import Any, Final

from arena.records.analysis.match_analysis import (
    AnalysedDecision,
    Estimate,
    MatchAnalysis,
    estimate,
)
from referee.action_phrases import describe
from referee.record import MatchRecord

_SCALE, _RATE, _OFFSET = 103.1668, 4.354, 3.1669
"""Lichess's accuracy of a move: https://lichess.org/page/accuracy."""
INTERVAL: Final = 1.96
ALL: Final = "all"
"""The row of all phases together."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well a bot decided in one phase."""

    bot: str
    phase: str
    decisions: int
    mistakes: int
    loss: Estimate
    """Mean loss of win expectation per decision."""

    @property
    def accuracy(self) -> float:
        """Accuracy in percent; 100 if the bot decides as well as the engine."""
        return _percentage(self.loss.mean)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy, from the playouts."""
        margin = INTERVAL * self.loss.error
        return _percentage(self.loss.mean + margin), _percentage(self.loss.mean - margin)


def _percentage(loss: float) -> float:
    return max(0.0, min(100.0, _SCALE * exp(-_RATE * max(0.0, loss)) - _OFFSET))


def accuracies(analysis: MatchAnalysis) -> list[Accuracy]:
    """Return the accuracy of every bot in all phases together, then in each phase."""
    rows = []
    for bot in analysis.entrants:
        decisions = [each for each in analysis.decisions if each.bot == bot]
        phases = list(dict.fromkeys(each.phase for each in decisions))
        rows.append(_accuracy(bot, ALL, decisions))
        if len(phases) > 1:
            rows += [
                _accuracy(bot, phase, [each for each in decisions if each.phase == phase])
                for phase in phases
            ]
    return rows


def _accuracy(bot: str, phase: str, decisions: Sequence[AnalysedDecision]) -> Accuracy:
    mistakes = sum(each.mistake for each in decisions)
    number = max(1, len(decisions))
    mean = fsum(each.loss.mean for each in decisions) / number
    error = fsum(each.loss.error**2 for each in decisions) ** 0.5 / number
    return Accuracy(bot, phase, len(decisions), mistakes, Estimate(mean, error))


def luck_by_bot(analysis: MatchAnalysis, record: MatchRecord) -> dict[str, Estimate]:
    """Return the total luck of every bot in win expectation, over the rated chance events."""
    seatings = {game.number: game.game["seating"] for game in record.games}
    luck: dict[str, list[Estimate]] = {bot: [] for bot in analysis.entrants}
    for event in analysis.chance_events:
        by_bot: dict[str, list[Estimate]] = {}
        for bot, each in zip(seatings[event.game], event.luck, strict=True):
            by_bot.setdefault(str(bot), []).append(each)
        for bot, values in by_bot.items():
            # The seats of one side share their luck.
            luck[bot].append(
                Estimate(
                    estimate([value.mean for value in values]).mean,
                    max(value.error for value in values),
                )
            )
    return {bot: _total(events) for bot, events in luck.items()}


def _total(values: Iterable[Estimate]) -> Estimate:
    listed = list(values)
    error = fsum(value.error**2 for value in listed) ** 0.5
    return Estimate(fsum(value.mean for value in listed), error)


def expectations_of_games(analysis: MatchAnalysis) -> dict[int, list[float]]:
    """Return the win expectation of seat 0 at the rated positions of each game."""
    by_game: dict[int, list[float]] = {}
    for position in analysis.positions:
        by_game.setdefault(position.game, []).append(position.expectations[0].mean)
    return by_game


def to_json(analysis: MatchAnalysis, record: MatchRecord) -> dict[str, Any]:
    """Return the whole analysis as JSON values; expectations and luck are by seat."""
    costliest = analysis.costliest()
    return {
        "match": analysis.match,
        "game": analysis.game,
        "engine": {"name": analysis.engine, "version": analysis.engine_version},
        "quality": analysis.quality,
        "playouts": analysis.playouts,
        "analysed": len(analysis.decisions),
        "skipped": analysis.skipped,
        "bots": [
            {"bot": bot, "luck": _estimate(luck)}
            for bot, luck in luck_by_bot(analysis, record).items()
        ],
        "accuracy": [
            {
                "bot": row.bot,
                "phase": row.phase,
                "decisions": row.decisions,
                "mistakes": row.mistakes,
                "loss": _estimate(row.loss),
                "accuracy": round(row.accuracy, 1),
                "interval": [round(bound, 1) for bound in row.interval],
            }
            for row in accuracies(analysis)
        ],
        "costliest": [decision_json(each) for each in costliest],
        "decisions": [decision_json(each) for each in analysis.decisions],
        "positions": [
            {
                "game": position.game,
                "decision": position.decision,
                "expectations": [_estimate(each) for each in position.expectations],
            }
            for position in analysis.positions
        ],
        "chance": [
            {
                "game": event.game,
                "decision": event.decision,
                "luck": [_estimate(each) for each in event.luck],
            }
            for event in analysis.chance_events
        ],
    }


def decision_json(decision: AnalysedDecision) -> dict[str, Any]:
    """Return one decision as JSON values."""
    return {
        "game": decision.game,
        "decision": decision.decision,
        "seat": decision.seat,
        "bot": decision.bot,
        "phase": decision.phase,
        "played": describe(decision.played),
        "choice": describe(decision.choice),
        "before": round(decision.before, 4),
        "after": round(decision.after, 4),
        "loss": _estimate(decision.loss),
        "mistake": decision.mistake,
        "worlds": decision.worlds,
    }


def _estimate(value: Estimate) -> dict[str, float]:
    return {"mean": round(value.mean, 4), "error": round(value.error, 4)}

"""The form in which an analysis is stored: seats and entrants by number, without names. Pure.

The stored form contains no names of bots, so deleting an owner's data does not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from arena.records.analysis import summary
from arena.records.analysis.match_analysis import Estimate, MatchAnalysis
from arena.records.analysis.win_probability import RatedPosition
from referee.record import MatchRecord

FORM: Final = 1
"""Version of the form; pages do not show an analysis of another one."""


def to_json(
    analysis: MatchAnalysis, record: MatchRecord, rated: Sequence[RatedPosition]
) -> dict[str, Any]:
    """Return an analysis as JSON values, without its single decisions except for the costliest.

    Args:
        rated: the win probabilities of positions, in the order of the games.
    """
    complete = summary.to_json(analysis, record)
    entrant = {bot: number for number, bot in enumerate(analysis.entrants)}
    return {
        "form": FORM,
        **{name: complete[name] for name in ("engine", "quality", "playouts", "analysed")},
        "skipped": analysis.skipped,
        "luck": [row["luck"] for row in complete["bots"]],
        "accuracy": [_numbered(row, entrant) for row in complete["accuracy"]],
        "costliest": [_numbered(row, entrant) for row in complete["costliest"]],
        "positions": [
            {**row, "expectations": [_pair(each) for each in row["expectations"]]}
            for row in complete["positions"]
        ],
        "win_probabilities": [
            {
                "game": position.game,
                "decision": position.decision,
                "by_seat": _pairs(position.by_seat),
                "known_to": [_pairs(by_seat) for by_seat in position.known_to],
            }
            for position in rated
        ],
        "chance": [
            {**row, "luck": [_pair(each) for each in row["luck"]]} for row in complete["chance"]
        ],
    }


def supported(analysis: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a stored analysis; None if it is missing or has another form."""
    return analysis if analysis is not None and analysis["form"] == FORM else None


def _numbered(row: dict[str, Any], entrant: dict[str, int]) -> dict[str, Any]:
    """Return a row with the entrant's number instead of the bot's name."""
    return {"entrant": entrant[row["bot"]], **{k: v for k, v in row.items() if k != "bot"}}


def _pairs(estimates: Sequence[Estimate]) -> list[list[float]]:
    return [[round(each.mean, 4), round(each.error, 4)] for each in estimates]


def _pair(estimate: dict[str, float]) -> list[float]:
    """Return an estimate as [mean, standard error], which takes a third of the space."""
    return [estimate["mean"], estimate["error"]]

"""Derive the standings and the decision of the format from the results of a tournament."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from arena.formats.contract import FormatOver, Step
from arena.ratings.standings import Standings
from arena.store.matches.spec import TournamentPlan

FORMAT = 1


def conclude(plan: TournamentPlan, table: Standings, step: Step | None) -> dict[str, Any]:
    """Return the standings document as JSON values (docs/reference/bundle.md).

    It omits decision times, because they cannot be verified.

    Args:
        plan: the tournament's plan.
        table: the standings; entrants without games have a line too.
        step: the latest step of the format; None if it is unknown.
    """
    found = table.strengths
    return {
        "format": FORMAT,
        "form": plan.form,
        "standings": [line.to_json() for line in table.lines],
        "elo": asdict(table.elo),
        "strength": found.settings.to_json(),
        "groups": [list(group) for group in found.groups],
        "lack_of_fit": found.lack_of_fit.to_json() if found.lack_of_fit else None,
        "clip": table.clip,
        "decision": decision(step),
    }


def decision(step: Step | None) -> dict[str, Any]:
    """Return the format's decision as JSON values: whether it is over, why, and the ranking."""
    if not isinstance(step, FormatOver):
        return {"over": False, "why": step.why if step else ""}
    return {
        "over": True,
        "why": step.why,
        "ranking": [list(group) for group in step.ranking],
        "drained": [list(place) for place in step.drained],
    }


def differences(told: Any, true: Any, where: str = "") -> list[str]:
    """Return the differences between two documents as clauses: "elo of greedy@1 is 1 and not 2"."""
    if isinstance(true, dict) and isinstance(told, dict):
        return [
            words
            for name in [*true, *(name for name in told if name not in true)]
            for words in _member(told, true, name, where)
        ]
    if isinstance(true, list) and isinstance(told, list) and len(told) == len(true):
        return [
            words
            for place, (one, other) in enumerate(zip(told, true, strict=True))
            for words in differences(one, other, _of(_name(other, place), where))
        ]
    if type(told) is type(true) and told == true:
        return []
    return [f"{where or 'it'} is {told}; it follows from the records as {true}"]


def _member(told: dict[str, Any], true: dict[str, Any], name: str, where: str) -> list[str]:
    if name not in told:
        return [f"{_of(name, where)} is missing"]
    if name not in true:
        return [f"{_of(name, where)} is not among what is told"]
    return differences(told[name], true[name], _of(name, where))


def _name(line: Any, place: int) -> str:
    """Return a name for an entry of a list: its entrant, if any, or its position."""
    entrant = line.get("entrant") if isinstance(line, dict) else None
    return str(entrant) if entrant else f"entry {place}"


def _of(name: str, where: str) -> str:
    return f"{name} of {where}" if where else name

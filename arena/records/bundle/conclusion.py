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
    strengths = table.strengths
    return {
        "format": FORMAT,
        "form": plan.form,
        "standings": [line.to_json() for line in table.lines],
        "elo": asdict(table.elo),
        "strength": strengths.settings.to_json(),
        "groups": [list(group) for group in strengths.groups],
        "lack_of_fit": strengths.lack_of_fit.to_json() if strengths.lack_of_fit else None,
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


def differences(stored: Any, computed: Any, where: str = "") -> list[str]:
    """Return the differences between two documents as clauses: "elo of greedy@1 is 1 and not 2"."""
    if isinstance(computed, dict) and isinstance(stored, dict):
        return [
            words
            for name in [*computed, *(name for name in stored if name not in computed)]
            for words in _member(stored, computed, name, where)
        ]
    if isinstance(computed, list) and isinstance(stored, list) and len(stored) == len(computed):
        return [
            words
            for place, (stored_item, computed_item) in enumerate(zip(stored, computed, strict=True))
            for words in differences(
                stored_item, computed_item, _of(_name(computed_item, place), where)
            )
        ]
    if type(stored) is type(computed) and stored == computed:
        return []
    return [f"{where or 'it'} is {stored}; it follows from the records as {computed}"]


def _member(stored: dict[str, Any], computed: dict[str, Any], name: str, where: str) -> list[str]:
    if name not in stored:
        return [f"{_of(name, where)} is missing"]
    if name not in computed:
        return [f"{_of(name, where)} is unknown"]
    return differences(stored[name], computed[name], _of(name, where))


def _name(line: Any, place: int) -> str:
    """Return a name for an entry of a list: its entrant, if any, or its position."""
    entrant = line.get("entrant") if isinstance(line, dict) else None
    return str(entrant) if entrant else f"entry {place}"


def _of(name: str, where: str) -> str:
    return f"{name} of {where}" if where else name

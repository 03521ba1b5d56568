"""What a tournament's format says of it: whether it is over, why, and who came where."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from arena.formats.contract import Over, Play, Ranking, Step, Wait
from arena.tournaments import scheduler

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


def of(engine: Engine, tournament: Tournament) -> Step:
    """The format's last word, from all matches as they stand."""
    try:
        return scheduler.standing(engine, tournament)
    except ValueError as error:
        return Wait(f"it cannot go on: {error}")


def lines(step: Step) -> list[str]:
    """It in words."""
    if not isinstance(step, Over):
        return []
    told = [f"over: {step.why}"]
    if step.ranking:
        told.append(f"final ranking: {ranking_words(step.ranking)} (below: by strength)")
    if step.drained:
        told.append(
            f"{len(step.drained)} matches were in flight when the decision fell; "
            "they are marked, and do not count for it"
        )
    return told


def ranking_words(ranking: Ranking) -> str:
    """A ranking such as "1 a, 2-3 b = c, 4 d"."""
    told, rank = [], 1
    for group in ranking:
        last = rank + len(group) - 1
        told.append(f"{rank}{f'-{last}' if last > rank else ''} {' = '.join(group)}")
        rank = last + 1
    return ", ".join(told)


def drained(step: Step) -> Collection[tuple[int, int]]:
    """The places (round, number) of matches that do not count for the decision."""
    return frozenset(step.drained) if isinstance(step, Over) else frozenset()


def to_json(step: Step) -> dict[str, Any]:
    """It as plain values."""
    match step:
        case Over(why=why, ranking=ranking, drained=places):
            return {
                "step": "over",
                "why": why,
                "ranking": [list(group) for group in ranking],
                "drained": [list(place) for place in places],
            }
        case Play(why=why):
            return {"step": "play", "why": why}
        case _:
            return {"step": "wait", "why": step.why}

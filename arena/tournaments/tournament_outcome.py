"""Present the outcome of a tournament: finished or not, the reason, the final ranking."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.formats.contract import FormatOver, NextMatches, Ranking, Step, WaitForMatches
from arena.formats.round_robin import GauntletFormat, RoundRobinFormat
from arena.store.schema import TournamentState
from arena.store.tournaments.format_history import FormatHistory
from arena.tournaments import scheduler

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.standings import Standings
    from arena.store.tournaments.tournaments import Tournament


RANKED_AT_END = (RoundRobinFormat, GauntletFormat)
"""The formats that rank their entrants by match points when all matches are over."""


@dataclass(frozen=True, slots=True)
class FirstPlace:
    """The first place of a closed tournament.

    Args:
        names: its winner; several share the place or, without a rule, may have it.
        has_rule: whether the format ranks its entrants; if not, the ratings do.
        leaders: the entrants that may have the first place by strength, at 95 %.
    """

    names: tuple[str, ...]
    has_rule: bool
    leaders: tuple[str, ...]


def first_place(tournament: Tournament, step: Step | None, table: Standings) -> FirstPlace | None:
    """Return the first place: by the format, or by strength if it has no ranking.

    None for a tournament that is not closed, or without a match.
    """
    if tournament.state is not TournamentState.CLOSED:
        return None
    played = {line.entrant: line for line in table.lines if line.matches}
    leaders = tuple(name for name, line in played.items() if line.strength.first == 1)
    ranking = step.ranking if isinstance(step, FormatOver) else ()
    if not ranking and tournament.plan.format == "gauntlet":
        return None  # Only challengers can win it, and the strongest bot may not be one.
    names = tuple(name for name in ranking[0] if name in played) if ranking else leaders
    return FirstPlace(names, bool(ranking), leaders) if names else None


def next_step(engine: Engine, tournament: Tournament) -> Step:
    """Return the format's next step, from all matches in their current state.

    If the entrants cannot play the format, this is a `WaitForMatches` with the error. The end of a
    round robin or a gauntlet has its ranking, which needs all results.
    """
    try:
        step = scheduler.current_step(engine, tournament)
        rules = scheduler.format_of(tournament.plan)
        if not (isinstance(step, FormatOver) and isinstance(rules, RANKED_AT_END)):
            return step
        matches = FormatHistory(engine, tournament.id).matches()
        return replace(step, ranking=rules.ranking(tournament.entries, matches))
    except (ArithmeticError, LookupError, ValueError) as error:
        return WaitForMatches(f"it cannot continue: {error}")


def lines(step: Step) -> list[str]:
    """Return the decision, or what the format waits for, as sentences; empty if it plays on."""
    if not isinstance(step, FormatOver):
        return [f"waits: {step.sentence}"] if isinstance(step, WaitForMatches) else []
    sentences = [f"over: {step.why}"]
    if step.ranking:
        sentences.append(f"final ranking: {ranking_words(step.ranking)} (below: by strength)")
    if step.drained:
        sentences.append(
            f"{len(step.drained)} matches were still being played when the format decided; "
            "they are marked and do not count for the decision"
        )
    return sentences


def ranking_words(ranking: Ranking) -> str:
    """Format a ranking, such as "1 a, 2-3 b = c, 4 d"."""
    ranks, rank = [], 1
    for group in ranking:
        last = rank + len(group) - 1
        ranks.append(f"{rank}{f'-{last}' if last > rank else ''} {' = '.join(group)}")
        rank = last + 1
    return ", ".join(ranks)


def uncounted_matches(step: Step) -> Collection[tuple[int, int]]:
    """Return the places (round, number) of the matches that do not count for the decision."""
    return frozenset(step.drained) if isinstance(step, FormatOver) else frozenset()


def to_json(step: Step) -> dict[str, Any]:
    match step:
        case FormatOver(why=why, ranking=ranking, drained=places):
            return {
                "step": "over",
                "why": why,
                "ranking": [list(group) for group in ranking],
                "drained": [list(place) for place in places],
            }
        case NextMatches(why=why):
            return {"step": "play", "why": why}
        case _:
            return {"step": "wait", "why": step.sentence}

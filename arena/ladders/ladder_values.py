"""Standings of ladders as plain values, and remarks on them as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.ladders import ladder_columns
from arena.ratings.elo import EloSettings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.collusion import Gift
    from arena.ratings.standings import Standings, StandingsLine

MISFIT = 0.05
"""Lack of fit is reported if its p-value is below this."""
SUSPICIOUS = 0.01
"""A gift is reported if its chance is below this (`arena.ratings.collusion`)."""


def gifts(engine: Engine, scope: LadderKey) -> tuple[Gift, ...]:
    """Return the tests for gifts; empty if no match has more than two sides."""
    from arena.ratings import collusion
    from arena.store.matches import results

    if scope.sides < 3:
        return ()
    return collusion.gifts(results.closed(engine, scope.tournaments))


def strength_in_words(line: StandingsLine) -> str:
    """Format the strength for a sentence that ends with "its strength is"."""
    value = line.strength
    if value.bound is None:
        return f"{value.value:.0f} ±{value.margin:.0f}"
    limit = "least" if value.bound.side == "above" else "most"
    return f"{value.value:.0f} (at {limit} {value.bound.value:.0f} with 95 % confidence)"


def ladder_json(engine: Engine, scope: LadderKey, table: Standings) -> dict[str, Any]:
    """Return a ladder with its parameters, details and decision times as values for JSON."""
    return {
        "standings": ladder_columns.results(table),
        "elo": settings_json(),
        "details": details_json(engine, scope, table),
        "timing": timing_json(table),
    }


def details_json(engine: Engine, scope: LadderKey, table: Standings) -> dict[str, Any]:
    """Return the parameters and further results of a ladder as plain values for JSON.

    Decision times are in `timing_json`, because they differ between two otherwise equal
    tournaments.
    """
    return {
        "strength": table.settings.to_json(),
        "groups": [list(group) for group in table.groups],
        "lack_of_fit": table.lack_of_fit.to_json() if table.lack_of_fit else None,
        "clip": table.clip,
        "unfitted": table.unfitted,
        "gifts": [asdict(gift) for gift in gifts(engine, scope)],
    }


def timing_json(table: Standings) -> dict[str, Any]:
    """Return the decision times of a ladder's bots in milliseconds, and their calls of models."""
    thinking = {name: times.to_json() for name, times in sorted(table.thinking.items())}
    usage = {name: asdict(figures) for name, figures in sorted(table.usage.items())}
    return {"thinking": thinking} | ({"usage": usage} if usage else {})


def settings_json() -> dict[str, float]:
    """Return the parameters of Elo as plain values."""
    return asdict(EloSettings())


def remarks(table: Standings) -> Iterator[str]:
    """Yield what a single number for each bot does not show: its age, groups, and lack of fit."""
    if table.unfitted:
        from arena.ratings.strength.fit import MAX_DENSE_ENTRANTS
        from arena.ratings.strength.kept_strengths import reason

        yield f"strengths are not up to date: {reason(MAX_DENSE_ENTRANTS)}"
    played = {line.entrant for line in table.lines if line.matches}
    groups = [group for group in table.groups if not played.isdisjoint(group)]
    if len(groups) > 1:
        apart = "; ".join(", ".join(group) for group in groups[1:])
        yield f"not linked with the others by any match: {apart}"
    if table.lack_of_fit is not None and table.lack_of_fit.p_value < MISFIT:
        worst = table.lack_of_fit.worst[0]
        yield (
            "strength alone does not explain all results "
            f"(p {table.lack_of_fit.p_value:.3g}): {worst.one} "
            f"scored {worst.score:.0%} against {worst.other}, expected were {worst.expected:.0%}"
        )


def gift_remarks(detected: Iterable[Gift]) -> Iterator[str]:
    """Yield a sentence for each gift that is unlikely to be due to chance."""
    for gift in detected:
        if gift.chance < SUSPICIOUS:
            yield (
                f"{gift.taker} scores {gift.gain:.1%} more against others while {gift.giver} is at "
                f"the table ({gift.together} matches with it, {gift.apart} without; chance "
                f"{gift.chance:.1g})"
            )

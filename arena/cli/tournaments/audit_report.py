"""Print the result of a tournament check as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from arena.cli import output
from arena.records.bundle.audit import Audit
from arena.records.bundle.bundle import Bundle
from arena.store.schema import MatchState

_SHOWN: Final = 20


def show(bundle: Bundle, audit: Audit, earlier: Bundle | None = None) -> None:
    """Print the checked facts with counts, or one problem per line.

    Args:
        bundle: the checked bundle.
        audit: the result of the check.
        earlier: the earlier bundle with which it was compared, if any.
    """
    tournament = bundle.tournament
    output.heading(
        f"{tournament.id} · {tournament.plan.name} · {tournament.plan.game} · {tournament.state}"
    )
    for problem in audit.problems[:_SHOWN]:
        output.line(f"{tournament.id}: {problem}")
    if len(audit.problems) > _SHOWN:
        output.line(f"and {len(audit.problems) - _SHOWN} more; --json lists them")
    if not audit.problems:
        for line in _checked(bundle, audit):
            output.line(line)
        if earlier is not None:
            output.line(
                f"earlier    the {len(earlier.matches)} matches of the earlier bundle are unchanged"
            )
        output.line(f"{tournament.id} verifies")


def _checked(bundle: Bundle, audit: Audit) -> Iterator[str]:
    tournament, states = bundle.tournament, audit.matches
    total = states.total()
    parts = ", ".join(f"{states[state]} {state.lower()}" for state in MatchState if states[state])
    yield f"schedule   {total} matches{f': {parts}' if parts else ''}"
    for reason, times in audit.reasons.most_common():
        yield f"           {times} without a result: {reason.rstrip('.')}"
    drained = f"; {audit.drained} in progress at the decision" if audit.drained else ""
    yield (
        f"format     {tournament.plan.format} run again in {audit.steps} steps gives the same "
        f"pairings{drained}"
    )
    yield "names      the id of every match follows from the hash of its settings"
    yield (
        f"records    one for each closed match: {audit.games} games dealt again, "
        f"{audit.actions} actions replayed, all scores computed again"
    )
    yield f"seeds      {audit.seeds} revealed, each matches its commitment"
    if audit.seeded is not None:
        yield f"           {audit.seeded} follow from the tournament's seed"
    yield "standings  identical when computed again from the records"
    yield "unchecked  decision times, notes and names (docs/reference/bundle.md)"


def to_json(bundle: Bundle, audit: Audit) -> dict[str, Any]:
    """Return the result as JSON values."""
    return {
        "tournament": bundle.tournament.id,
        "verified": not audit.problems,
        "state": str(bundle.tournament.state),
        "matches": {state.lower(): audit.matches[state] for state in MatchState},
        "without_result": dict(audit.reasons),
        "games": audit.games,
        "actions": audit.actions,
        "seeds": audit.seeds,
        "seeds_from_tournament": audit.seeded,
        "steps": audit.steps,
        "drained": audit.drained,
        "problems": list(audit.problems),
    }

"""Ladders: the standings of each form of a game, from the closed matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from arena import standings
from arena.ratings.elo import EloSettings
from arena.standings import Standing
from arena.store import results, tournaments

if TYPE_CHECKING:
    from sqlalchemy import Engine

Ladders = Mapping[str, Sequence[Standing]]
"""The standings by form (arena.form)."""

HEADINGS = ("#", "<bot", "Elo", "matches", "games", "W–D–L", "points", "mean", "<faults")


def of_forms(engine: Engine, name: str | None = None) -> Ladders:
    """The ladder of every form that has been played, or of those that a name means.

    Each is made of all tournaments of its form.

    name: the id of a game, or a form.
    """
    held: dict[str, list[str]] = {}
    for found in tournaments.listing(engine):
        if name in (None, found.plan.game, found.plan.form):
            held.setdefault(found.plan.form, []).append(found.id)
    tables = ((form, standings.table(results.closed(engine, held[form]))) for form in sorted(held))
    return {form: table for form, table in tables if table}


def of_tournament(engine: Engine, tournament: str, entrants: Iterable[str]) -> Sequence[Standing]:
    """The standings of one tournament; who has not played yet is in it too."""
    return standings.table(results.closed(engine, [tournament]), entrants=entrants)


def rows(table: Sequence[Standing]) -> Iterator[tuple[object, ...]]:
    """The lines of a ladder for people."""
    for one in table:
        yield (
            one.rank,
            one.entrant,
            f"{one.elo:.0f}",
            one.matches,
            one.games,
            f"{one.wins}–{one.draws}–{one.losses}",
            one.points,
            "–" if one.mean is None else f"{one.mean:.3f}",
            _faults(one),
        )


def _faults(one: Standing) -> str:
    kinds = dict(one.faults)
    if one.forfeits:
        kinds["forfeit"] = one.forfeits
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "–"


def to_json(table: Sequence[Standing]) -> list[dict[str, object]]:
    """A ladder as plain values."""
    return [one.to_json() for one in table]


def settings_json() -> dict[str, float]:
    """The parameters of the ratings."""
    return asdict(EloSettings())


def settings_words() -> str:
    """The parameters of the ratings for people."""
    s = EloSettings()
    return (
        f"Elo: K {s.k:g}, from {s.initial:g}; {2 * s.beta:g} points are odds of ten to one; "
        "mean is the mean score of a match, from 0 to 1"
    )

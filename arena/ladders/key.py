"""What is ranked together: the ladder of a form of a game, or one tournament."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena.presentation.clips import clip_of
from arena.store.tournaments import tournaments

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


@dataclass(frozen=True, slots=True)
class Scope:
    """Some tournaments of one form (arena.presentation.form_name).

    entrants: who is shown even before its first match.
    """

    form: str
    game: str
    sides: int
    """How many entrants a match has at the most."""
    tournaments: tuple[str, ...]
    entrants: tuple[str, ...] = ()

    @property
    def clip(self) -> int:
        """At which points per board are clipped."""
        return clip_of(self.game)


def of_tournament(found: Tournament) -> Scope:
    """The scope that is one tournament."""
    plan = found.plan
    return Scope(plan.form, plan.game, plan.seats, (found.id,), found.entrants)


def of_forms(engine: Engine, name: str | None = None) -> list[Scope]:
    """The scopes of all forms that tournaments were held in, or of those that a name means.

    name: the id of a game, or a form.
    """
    held: dict[str, Scope] = {}
    for found in tournaments.listing(engine):
        if name in (None, found.plan.game, found.plan.form):
            own = replace(of_tournament(found), entrants=())
            so_far = held[own.form].tournaments if own.form in held else ()
            held[own.form] = replace(own, tournaments=so_far + own.tournaments)
    return [held[form] for form in sorted(held)]

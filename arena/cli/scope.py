"""What is ranked together: the ladder of a form of a game, or one tournament."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena.ratings.clips import clip_of

if TYPE_CHECKING:
    from arena.cli.place import Place
    from arena.store.tournaments import Tournament


@dataclass(frozen=True, slots=True)
class Scope:
    """Some tournaments of one form (arena.form).

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


def of_forms(place: Place, name: str | None = None) -> list[Scope]:
    """The scopes of all forms that tournaments were held in, or of those that a name means.

    name: the id of a game, or a form.
    """
    from arena.store import tournaments

    held: dict[str, Scope] = {}
    for found in tournaments.listing(place.store):
        if name in (None, found.plan.game, found.plan.form):
            own = replace(of_tournament(found), entrants=())
            so_far = held[own.form].tournaments if own.form in held else ()
            held[own.form] = replace(own, tournaments=so_far + own.tournaments)
    return [held[form] for form in sorted(held)]


def meant(place: Place, name: str | None, tournament: str | None) -> list[Scope]:
    """What a person means by a game, a form of one, or a tournament; everything by neither.

    CommandError if there is no such game or tournament.
    """
    from arena.cli import lookup, setup
    from arena.store import tournaments

    if tournament is not None:
        return [of_tournament(tournaments.find(place.store, lookup.tournament(place, tournament)))]
    # The rules of the games are not needed for a ladder of all of them.
    return of_forms(place, name) or (of_forms(place, setup.game_named(name).id) if name else [])

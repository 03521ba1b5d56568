"""What is ranked together, by what a person types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.cli.place import Place
    from arena.scope import Scope


def meant(place: Place, name: str | None, tournament: str | None) -> list[Scope]:
    """What a person means by a game, a form of one, or a tournament; everything by neither.

    CommandError if there is no such game or tournament.
    """
    from arena import scope
    from arena.cli import lookup, setup
    from arena.store import tournaments

    if tournament is not None:
        found = tournaments.find(place.store, lookup.tournament(place, tournament))
        return [scope.of_tournament(found)]
    # The rules of the games are not needed for a ladder of all of them.
    return scope.of_forms(place.store, name) or (
        scope.of_forms(place.store, setup.game_named(name).id) if name else []
    )

"""What is ranked together, by what a person types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.errors import USAGE, CommandError

if TYPE_CHECKING:
    from arena.cli.workspace import Place
    from arena.ladders.key import Scope


def meant(place: Place, name: str | None, tournament: str | None) -> list[Scope]:
    """What a person means by a game, a form of one, or a tournament; everything by neither.

    CommandError if there is no such game or tournament, or no tournament of such a form.
    """
    from arena.cli import game_options, lookup
    from arena.ladders import key
    from arena.store.tournaments import tournaments
    from referee.games.registry import GAMES

    if tournament is not None:
        found = tournaments.find(place.store, lookup.tournament(place, tournament))
        return [key.of_tournament(found)]
    # The rules of the games are not needed for a ladder of all of them.
    held = key.of_forms(place.store, name)
    if held or name is None:
        return held
    game, dash, _ = name.partition("-")
    if dash and game in GAMES:
        sentence = f'no tournament of "{name}" was held here.'
        raise CommandError(sentence, USAGE, "pokearena tournament list")
    return key.of_forms(place.store, game_options.game_named(name).id)

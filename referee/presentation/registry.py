"""Find the presentation of a game: `PRESENTATION` of the module of `games` with the game's id.

A game without a module has the default presentation. Everything is imported when it is needed,
because importing all games takes longer than a query of the store.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from referee.presentation.contract import Presentation


@cache
def presentation_of(game_id: str) -> Presentation:
    """Return the presentation of a registered game.

    Raises:
        SetupError: the id is unknown.
    """
    from referee.games.registry import find_game

    game = find_game(game_id)
    name = f"referee.presentation.games.{game_id}"
    if find_spec(name) is None:
        return Presentation(game)
    kind: type[Presentation] = import_module(name).PRESENTATION
    return kind(game)

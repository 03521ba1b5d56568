"""Find the presentation of a game.

That of a built-in game is `PRESENTATION` of the module of `games` with the game's id. A game of a
package names a class as text (`Game.presentation`), because a referee imports nothing of the arena.
Any other game has the default presentation. Everything is imported when it is needed, because
importing all games takes longer than a query of the store.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from referee.games.contract import Game, SetupError
from referee.presentation.contract import Presentation


@cache
def presentation_of(game_id: str) -> Presentation:
    """Return the presentation of a registered game.

    Raises:
        SetupError: the id is unknown, or its package names a presentation that does not exist.
    """
    from referee.games.registry import find_game

    game = find_game(game_id)
    if game.presentation:
        return _named(game)
    name = f"referee.presentation.games.{game_id}"
    if find_spec(name) is None:
        return Presentation(game)
    kind: type[Presentation] = import_module(name).PRESENTATION
    return kind(game)


def _named(game: Game) -> Presentation:
    module, _, name = game.presentation.partition(":")
    try:
        kind: type[Presentation] = getattr(import_module(module), name)
        return kind(game)
    except Exception as error:  # a package may raise anything
        raise SetupError(
            f"the presentation {game.presentation} of {game.id} cannot be loaded: "
            f"{type(error).__name__}: {error}",
            code="presentation-not-loaded",
        ) from error

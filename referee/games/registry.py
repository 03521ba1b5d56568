"""Registry of the games by id. A new game requires one entry here."""

from collections.abc import Mapping

from referee.games.contract import Game, SetupError
from referee.games.poke import Poke
from referee.games.pokex import Pokex
from referee.games.pokino import Pokino
from referee.games.pouku import Pouku
from referee.games.saint_poker import SaintPoker

GAMES: Mapping[str, Game] = {
    game.id: game
    for game in (
        Poke(),
        SaintPoker(),
        Pokex(),
        Pouku(),
        Pokino(),
    )
}


def find(game_id: str) -> Game:
    """Return the game with this id.

    Raises:
        SetupError: the id is unknown.
    """
    if game_id not in GAMES:
        raise SetupError(f'there is no game "{game_id}"; the games are {", ".join(sorted(GAMES))}')
    return GAMES[game_id]

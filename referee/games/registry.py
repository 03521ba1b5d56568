"""The games of the arena, by id. One line here makes a game known everywhere."""

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
    """The game with this id.

    Raises:
        SetupError: there is none.
    """
    if game_id not in GAMES:
        raise SetupError(f'there is no game "{game_id}"; the games are {", ".join(sorted(GAMES))}')
    return GAMES[game_id]

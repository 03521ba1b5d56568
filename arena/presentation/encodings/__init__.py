"""Encodings of the games for reinforcement learning, in the module with the game's id.

Imports NumPy, which most commands do not need; import it where it is used.
"""

from importlib import import_module
from importlib.util import find_spec

from arena.presentation.encoding import Encoding, PlainEncoding
from referee.games.registry import find_game


def encoding_of(game_id: str, seats: int) -> Encoding:
    """Return the encoding of a game: `ENCODING` of its module, by default a plain one.

    Raises:
        SetupError: the id is unknown.
    """
    game = find_game(game_id)
    name = f"{__name__}.{game_id}"
    if find_spec(name) is None:
        return PlainEncoding(seats, game.view_type)
    encoding: Encoding = import_module(name).ENCODING(seats)
    return encoding

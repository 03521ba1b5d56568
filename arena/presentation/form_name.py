"""Name the form of a game: matches of one form are ranked together."""

from collections.abc import Mapping

from referee.games.contract import Value
from referee.games.registry import find


def form_of(game_id: str, seats: int, options: Mapping[str, Value]) -> str:
    """Return the name of a form: "poke", "pokex-4", "pokino-3-greed", "pouku-4-reference=left".

    Args:
        game_id: the game.
        seats: the number of seats; included if the game supports several numbers.
        options: a value for every option; those that differ from the default are included.
    """
    game = find(game_id)
    words = [game_id] + [str(seats)] * (len(game.seats) > 1)
    for name, value in options.items():
        if value != game.options[name].default:
            words.append(name if value is True else f"{name}={str(value).lower()}")
    return "-".join(words)

"""What is to be played, as it is named on the command line."""

from collections.abc import Sequence

from arena.bots.bot import Bot
from arena.cli.errors import USAGE, CommandError
from arena.cli.options import unknown
from referee.games.contract import Game, Value
from referee.games.registry import GAMES


def game_named(name: str) -> Game:
    """The game of this id."""
    game = GAMES.get(name) or GAMES.get(name.replace("-", "_").lower())
    if game is None:
        raise unknown("game", name, sorted(GAMES))
    return game


def options_of(game: Game, pairs: Sequence[str]) -> dict[str, Value]:
    """A value for every option of the game, from texts such as "must_beat=false"."""
    given: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f'"{pair}" is no option of a game; write NAME=VALUE.', USAGE)
        if name not in game.options:
            raise unknown(f"option of {game.id}", name, sorted(game.options))
        given[name] = value
    return game.settle(given)


def sides_of(game: Game, seats: int, options: dict[str, Value]) -> int:
    """How many entrants a table of so many seats takes."""
    return len(set(game.sides(seats, options)))


def check_plays(bot: Bot, game: Game) -> None:
    """Raises CommandError if the bot says that it does not play the game."""
    if not bot.plays(game.id):
        raise CommandError(f"{bot.label} does not play {game.id}, says its bot.toml.", USAGE)


def seats_for(game: Game, options: dict[str, Value], entrants: int) -> int:
    """The number of seats of a table at which so many entrants play."""
    by_entrants = {sides_of(game, seats, options): seats for seats in reversed(game.seats)}
    if entrants not in by_entrants:
        allowed = " or ".join(map(str, sorted(by_entrants)))
        raise CommandError(f"{game.id} is played by {allowed} bots, not by {entrants}.", USAGE)
    return by_entrants[entrants]

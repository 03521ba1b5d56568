"""Registry of the games by id, built in or of allowed packages, and names of their forms."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import chain
from typing import Final

from referee.games.contract import Game, OptionValue, SetupError
from referee.games.game_packages import BUILT_IN, absence, packaged_games


class LazyGames(Mapping[str, Game]):
    """The games by id. A game is imported when its value is first needed.

    Importing all games takes longer than most commands: a list of the ids imports none.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Game] = {}

    def __getitem__(self, game_id: str) -> Game:
        packaged = None if game_id in BUILT_IN else packaged_games()[game_id]
        if game_id not in self._loaded:
            self._loaded[game_id] = _built_in(game_id) if packaged is None else packaged.load()
        return self._loaded[game_id]

    def __contains__(self, game_id: object) -> bool:
        return game_id in BUILT_IN or game_id in packaged_games()

    def __iter__(self) -> Iterator[str]:
        return chain(BUILT_IN, packaged_games())

    def __len__(self) -> int:
        return len(BUILT_IN) + len(packaged_games())

    def load_all(self) -> None:
        """Import all games, for example before a process is forked for each match."""
        for game_id in self:
            self[game_id]


def _built_in(game_id: str) -> Game:
    kind: type[Game] = getattr(import_module(f"referee.games.{game_id}"), BUILT_IN[game_id])
    return kind()


GAMES: Final = LazyGames()


def find_game(game_id: str) -> Game:
    """Return the game with this id.

    Raises:
        SetupError: the id is unknown.
    """
    if game_id not in GAMES:
        if reason := absence(game_id):
            raise SetupError(f"the game {game_id!r} is not available; {reason}", code="absent-game")
        raise SetupError(
            f"unknown game {game_id!r}; available: {', '.join(sorted(GAMES))}",
            code="unknown-game",
        )
    return GAMES[game_id]


find = find_game
"""The name of `find_game` until release 0.2.0, which the bots of authors import."""


def form_of(game_id: str, seats: int, options: Mapping[str, OptionValue]) -> str:
    """Return the name of a form: "poke", "pokex-4", "pokino-3-greed", "pouku-4-reference=left".

    Args:
        game_id: the game.
        seats: the number of seats; included if the game supports several numbers.
        options: a value for every option; those that differ from the default are included.
    """
    game = find_game(game_id)
    words = [game_id] + [str(seats)] * (len(game.seats) > 1)
    for name, value in options.items():
        if value != game.options[name].default:
            words.append(name if value is True else f"{name}={str(value).lower()}")
    return "-".join(words)


def parse_form(form: str) -> tuple[str, int | None, dict[str, OptionValue]]:
    """Return the game, the number of seats and the options in the name of a form.

    The number of seats is None if the name omits it. The options are not checked.

    Raises:
        SetupError: the game does not exist.
    """
    game_id, *words = form.split("-")
    find_game(game_id)
    seats = int(words.pop(0)) if words and words[0].isascii() and words[0].isdecimal() else None
    pairs = (word.partition("=") for word in words)
    return game_id, seats, {name: value if equals else True for name, equals, value in pairs}

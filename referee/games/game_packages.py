"""Find the games that installed packages bring, and import those of allowed packages.

A package names its games by entry points of the group ``pokearena.games``: the name is the id of
the game, the value its :class:`~referee.games.contract.Game` class. The code of a package runs in
the referee and in the web server, so the organiser allows each package by its name. Only the
metadata of installed packages is read before one of their games is used.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

    from referee.games.contract import Game, SetupError

SETTING: Final = "POKEARENA_GAMES"
"""Environment variable with the names of the allowed packages, separated by spaces or commas."""
ALL: Final = "*"
"""Value of the variable that allows every installed package, on the machine of an author."""
GROUP: Final = "pokearena.games"
BUILT_IN: Final = {
    "poke": "Poke",
    "saint_poker": "SaintPoker",
    "pokex": "Pokex",
    "pouku": "Pouku",
    "pokino": "Pokino",
}
"""Class of each built-in game in `referee.games.ID`."""
EXAMPLE_GAME: Final = next(iter(BUILT_IN))
"""The game of examples in help texts."""
_ID: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*")
"""Ids whose form in JSON, ``ticTacToe`` for ``tic_tac_toe``, belongs to one id only."""


@dataclass(frozen=True, slots=True)
class PackagedGame:
    """A game of an installed package; its code is not imported yet."""

    id: str
    package: str
    version: str
    entry_point: "EntryPoint"

    def __str__(self) -> str:
        return f"{self.id} of {self.package} {self.version}"

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders, or the single file, of the top-level module that holds the game."""
        spec = find_spec(self.entry_point.module.partition(".")[0])
        if spec is None:
            return ()
        if spec.submodule_search_locations is not None:
            return tuple(spec.submodule_search_locations)
        return () if spec.origin is None else (spec.origin,)

    @property
    def code_hash(self) -> str:
        """Return the SHA-256 of the names and contents of the files in `folders`."""
        digest = sha256()
        for name, file in sorted(_files(self.folders)):
            digest.update(f"{name}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()

    def load(self) -> "Game":
        """Import the package and return its game.

        Raises:
            SetupError: the package cannot be imported, or its entry point is not this game.
        """
        from referee.games.contract import Game

        try:
            kind = self.entry_point.load()
            if not (isinstance(kind, type) and issubclass(kind, Game)):
                raise TypeError(f"{self.entry_point.value} is not a subclass of Game")
            if kind.id != self.id:
                raise ValueError(f'{self.entry_point.value} has the id "{kind.id}"')
            return kind()
        except Exception as error:  # a package may raise anything
            sentence = f"the game {self} cannot be loaded: {type(error).__name__}: {error}"
            raise _error(sentence, "game-not-loaded") from error


def _files(folders: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for folder in map(Path, folders):
        if folder.is_file():
            yield folder.name, folder
        for file in folder.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(folder).as_posix(), file


def packaged_games() -> Mapping[str, PackagedGame]:
    """Return the games of the allowed packages that are installed, by id.

    Raises:
        SetupError: two packages bring one id, or a package brings the id of a built-in game or an
            id that is not valid.
    """
    return _allowed_games(os.environ.get(SETTING, ""))


@cache
def game_code(game_id: str) -> Mapping[str, str]:
    """Return name, version and hash of the package of a game; empty for a built-in game.

    Records contain it. It is that of the first call: the code that a process has imported stays the
    same if a package is installed again.
    """
    game = None if game_id in BUILT_IN else packaged_games().get(game_id)
    if game is None:
        return {}
    return {"name": game.package, "version": game.version, "code": game.code_hash}


def allowed_packages() -> tuple[str, ...]:
    """Return the names of the allowed packages in their normal form; "*" allows every package."""
    return _names(os.environ.get(SETTING, ""))


def installed_games() -> tuple[PackagedGame, ...]:
    """Return the games of all installed packages, allowed or not, sorted by id and package."""
    # Takes as long to import as most commands.
    from importlib.metadata import distributions

    return _games(distributions())


def is_allowed(game: PackagedGame) -> bool:
    """Return whether the package of a game is allowed."""
    return not {ALL, normal_name(game.package)}.isdisjoint(allowed_packages())


def missing_packages() -> tuple[str, ...]:
    """Return the allowed packages that are not installed."""
    named = set(allowed_packages()) - {ALL}
    return tuple(sorted(name for name in named if _distribution(name) is None))


def absence(game_id: str) -> str:
    """Return why a game that is not built in cannot be played, as clauses; empty if unknown.

    Nothing is imported and no command is run: the id may come from a record of somebody else.
    """
    for game in installed_games():
        if game.id == game_id and not is_allowed(game):
            return (
                f"the installed package {game.package} {game.version} brings it and is not allowed:"
                f' write games = ["{game.package}"] into the configuration file of the user, or'
                f" set {SETTING}"
            )
    if missing := missing_packages():
        return f"allowed packages are not installed: pip install {' '.join(missing)}"
    return ""


def is_game_id(text: str) -> bool:
    """Return whether a text can be the id of a game."""
    return _ID.fullmatch(text) is not None


def normal_name(package: str) -> str:
    """Return the normal form of a package's name, as package indexes define it."""
    return re.sub(r"[-_.]+", "-", package).lower()


@cache
def _allowed_games(setting: str) -> Mapping[str, PackagedGame]:
    names = _names(setting)
    if ALL in names:
        return _by_id(installed_games())
    found = map(_distribution, names)
    return _by_id(_games(each for each in found if each is not None))


def _names(setting: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(normal_name, setting.replace(",", " ").split())))


def _distribution(name: str) -> "Distribution | None":
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _games(distributions: "Iterable[Distribution]") -> tuple[PackagedGame, ...]:
    # A package is listed once for each entry of sys.path that holds it; the first one is imported.
    first: dict[str, Distribution] = {}
    for each in distributions:
        first.setdefault(normal_name(each.name), each)
    games = [
        PackagedGame(point.name, each.name, each.version, point)
        for each in first.values()
        for point in each.entry_points
        if point.group == GROUP
    ]
    return tuple(sorted(games, key=lambda game: (game.id, game.package)))


def _error(sentence: str, code: str) -> "SetupError":
    # Every command imports this module, and few need the contract of games.
    from referee.games.contract import SetupError

    return SetupError(sentence, code=code)


def _by_id(games: Iterable[PackagedGame]) -> Mapping[str, PackagedGame]:
    by_id: dict[str, PackagedGame] = {}
    for game in games:
        if not is_game_id(game.id):
            raise _error(
                f'the package {game.package} brings a game with the id "{game.id}"; an id consists'
                " of lower-case words joined by underscores, and each word begins with a letter",
                "game-id",
            )
        if game.id in BUILT_IN:
            raise _error(
                f"the package {game.package} brings the game {game.id}, which is built in; "
                "a built-in game cannot be replaced",
                "built-in-game",
            )
        if game.id in by_id:
            raise _error(
                f"the packages {by_id[game.id].package} and {game.package} both bring the game "
                f"{game.id}; allow only one of them",
                "game-twice",
            )
        by_id[game.id] = game
    return by_id

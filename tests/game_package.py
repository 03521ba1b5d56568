"""Packages with games, as pip installs them: files and metadata in a folder of sys.path."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.games import game_packages
from referee.games.registry import GAMES
from referee.presentation.registry import presentation_of

RACE = '''
"""A game of one decision."""

from dataclasses import dataclass

from referee.games.contract import Game, Legal, State


@dataclass(frozen=True, slots=True)
class Step:
    """Go forward."""

    far: int


@dataclass(frozen=True, slots=True)
class RaceView:
    """The view of a seat."""

    scores: tuple[int, ...]


class Steps(Legal):
    def __contains__(self, action):
        return isinstance(action, Step) and action.far in (1, 2)

    def __iter__(self):
        return iter((Step(1), Step(2)))


@dataclass(frozen=True)
class RaceState(State):
    moves: tuple[int, ...]

    @property
    def actors(self):
        return (0, 1) if not any(self.moves) else ()

    @property
    def scores(self):
        return self.moves

    def legal(self, seat):
        return Steps()

    def view(self, seat):
        return RaceView(self.moves)

    def public(self):
        return RaceView(self.moves)

    def redeal(self, seat, luck):
        return self

    def after(self, moves):
        return RaceState(tuple(moves[seat].far for seat in (0, 1)))


class Race(Game):
    """Both seats go one or two steps."""

    id = "race"
    title = "Race"
    seats = (2,)
    view_type = RaceView
    action_types = (Step,)
PRESENTATION
    def _start(self, luck, seats, options):
        return RaceState((0, 0))

    def from_view(self, view, seat, options, luck):
        return RaceState(view.scores)
'''


def install_game(
    folder: Path,
    package: str,
    games: dict[str, str],
    *,
    version: str = "1.0",
    presentation: str = "",
) -> None:
    """Install a package whose entry points name games.

    Args:
        folder: a folder of sys.path.
        package: the name of the package; its module has the name with underscores.
        games: the values of the entry points by the ids of the games; "" is the class `Race`.
        version: the version of the package.
        presentation: the presentation of `Race`.
    """
    module = package.replace("-", "_")
    source = f'    presentation = "{presentation}"\n' if presentation else ""
    (folder / f"{module}.py").write_text(RACE.replace("PRESENTATION\n", source), encoding="utf-8")
    metadata = folder / f"{module}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8"
    )
    lines = [f"{game} = {value or f'{module}:Race'}" for game, value in games.items()]
    (metadata / "entry_points.txt").write_text(
        "\n".join(("[pokearena.games]", *lines, "")), encoding="utf-8"
    )


def installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of sys.path for packages, none of which is allowed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delenv(game_packages.SETTING, raising=False)
    game_packages._allowed_games.cache_clear()
    yield folder
    game_packages._allowed_games.cache_clear()
    for game in [name for name in GAMES._loaded if name not in game_packages.BUILT_IN]:
        del GAMES._loaded[game]
    presentation_of.cache_clear()
    game_packages.game_code.cache_clear()
    paths = (getattr(module, "__file__", None) or "" for module in sys.modules.values())
    inside = [
        name
        for name, path in zip(list(sys.modules), list(paths), strict=True)
        if path.startswith(str(folder))
    ]
    for name in inside:
        del sys.modules[name]

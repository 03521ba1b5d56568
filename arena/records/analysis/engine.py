"""Interface of the analysis to a searching engine, and the engines of two house bots."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from arena.bots import resolver
from referee.field_names import pascal
from referee.games.contract import NOT_REDEALT, Action, State
from referee.games.registry import GAMES
from referee.games.shared.coded_errors import CodedError

STRONG: Final = "strong"
CHAMPION: Final = "champion"
_HASH_DIGITS: Final = 12
_CHAMPION_NODES: Final = 1.0
"""Factor of the searches of `champion`, as in its bot.toml."""


class NoEngine(CodedError):
    """No engine can analyse this game. The message is a full sentence."""


class Engine(Protocol):
    """A searching bot as a library. All its methods are pure."""

    @property
    def name(self) -> str:
        """Name of the bot."""

    @property
    def version(self) -> str:
        """Hash of its code and its learned values."""

    @property
    def playouts(self) -> int:
        """Number of playouts for a match at quality 1."""

    def choose(
        self, state: State, seat: int, sides: Sequence[int], seed: bytes, playouts: int
    ) -> tuple[Action, int]:
        """Return the engine's action and the number of playouts that it used."""

    def move(self, state: State, seat: int) -> Action:
        """Return the action of a seat in a playout."""

    def over(self, root: State, state: State) -> bool:
        """Return whether to end a playout from `root` before the game is over."""

    def rating(self, state: State, seat: int, sides: Sequence[int]) -> float:
        """Rate the end of a playout for a seat, from -1 to 1."""


class _WithPlayouts:
    """A plan with another number of playouts, and no more candidates than these can compare."""

    def __init__(self, plan: Any, playouts: int) -> None:
        self._plan = plan
        self._playouts = playouts
        self.move = plan.move
        self.over = plan.over
        self.value = plan.value

    def playouts(self, state: State) -> int:
        return self._playouts

    def candidates(self, state: State, seat: int) -> list[Action]:
        candidates: list[Action] = self._plan.candidates(state, seat)
        return candidates[: max(2, self._playouts // 4)]


class StrongEngine:
    """The search of the house bot `strong` for one game.

    Raises:
        NoEngine: the bot has no plan for the game, or hidden information is not dealt again.
    """

    name = STRONG

    def __init__(self, game: str) -> None:
        rules = GAMES.get(game)
        if rules is not None and not rules.redeals:
            raise NoEngine(f"{NOT_REDEALT} ({game})", code="not-redealt")
        folder = resolver.house_folder() / STRONG
        modules = _modules(folder)
        plan = getattr(modules.get(game), f"{pascal(game)}Plan", None)
        if plan is None:
            raise NoEngine(f"the house bot {STRONG} has no plan to search {game}")
        self._plan = plan()
        self._position = modules["plan"].Position
        self._search = modules["search"].choose
        self.version = _version(folder)
        self.playouts = self._plan.analysis_playouts
        self.move = self._plan.move
        self.over = self._plan.over

    def choose(
        self, state: State, seat: int, sides: Sequence[int], seed: bytes, playouts: int
    ) -> tuple[Action, int]:
        """Search with a number of playouts instead of a clock."""
        at = self._position(state, seat, tuple(sides))
        choice = self._search(_WithPlayouts(self._plan, playouts), at, seed, lambda: False)
        return choice.action, choice.playouts

    def rating(self, state: State, seat: int, sides: Sequence[int]) -> float:
        """Return the rating of the bot's plan."""
        return float(self._plan.value(self._position(state, seat, tuple(sides)), state))


class ChampionEngine(StrongEngine):
    """The choices of the house bot `champion`, rated by the playouts of `strong`.

    A search of `champion` returns the value of its choice only, so it cannot replace the playouts.

    Raises:
        NoEngine: one of the bots does not search the game.
    """

    name = CHAMPION

    def __init__(self, game: str, seats: int) -> None:
        super().__init__(game)
        folder = resolver.house_folder() / CHAMPION
        search = getattr(_modules(folder).get(game), pascal(game), None)
        if search is None:
            raise NoEngine(f"the house bot {CHAMPION} does not search {game}")
        self._champion = search(seats, _CHAMPION_NODES)
        self.version = f"{_version(folder)} and {STRONG} {self.version}"

    def choose(
        self, state: State, seat: int, sides: Sequence[int], seed: bytes, playouts: int
    ) -> tuple[Action, int]:
        """Search as the bot does in a match; count it as the given number of playouts."""
        return self._champion.choose(state, seat, seed, lambda: False).action, playouts


@cache
def engine_of(game: str) -> Engine:
    """Return the engine that analyses a game unless another one is named.

    Raises:
        NoEngine: no engine plays this game.
    """
    return StrongEngine(game)


def named_engine(name: str, game: str, seats: int) -> Engine:
    """Return the engine of a house bot, `strong` or `champion`.

    Raises:
        NoEngine: the house bot does not search this game.
    """
    return ChampionEngine(game, seats) if name == CHAMPION else engine_of(game)


@cache
def _modules(folder: Path) -> dict[str, Any]:
    """Import the modules of the bot under their own names, and leave no trace of these names."""
    names = [path.stem for path in sorted(folder.glob("*.py")) if _is_part_of_search(path.stem)]
    with _importable(folder, names):
        return {name: importlib.import_module(name) for name in names}


def _is_part_of_search(module: str) -> bool:
    return module != "bot" and not module.startswith("train_")


@contextmanager
def _importable(folder: Path, names: Sequence[str]) -> Iterator[None]:
    earlier = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(earlier)


@cache
def _version(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.npz")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:_HASH_DIGITS]

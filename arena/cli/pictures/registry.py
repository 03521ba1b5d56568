"""Positions of games as text. A game without a picture of its own gets a plain one."""

from collections.abc import Sequence
from typing import Any, Protocol

from arena.cli.pictures.poke import PokePicture
from arena.cli.pictures.pokex import PokexPicture
from arena.cli.pictures.pokino import PokinoPicture
from arena.cli.pictures.pouku import PoukuPicture
from arena.cli.pictures.saint_poker import SaintPokerPicture
from referee.replay import position

# The picture of any game: every part of its position by name.


class PlainPicture:
    """Draws a position it knows nothing about."""

    def chapter(self, state: Any) -> int:
        """All is one chapter."""
        return 0

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Nothing to say."""
        return []

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Nothing to say."""
        return []

    def table(self, state: Any) -> list[str]:
        """Nothing that the actions have not told."""
        return []

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """A line a part."""
        return [f"{name}: {value}" for name, value in position(state).items()]


Names = Sequence[str]
"""Who plays, by seat."""


class Picture(Protocol):
    """How to draw the positions of one game; every text is lines without colours."""

    def chapter(self, state: Any) -> int:
        """The number, from 0, of the deal or round that is being played."""

    def opening(self, state: Any, names: Names) -> list[str]:
        """How a chapter begins: who was dealt what."""

    def closing(self, state: Any, chapter: int, names: Names) -> list[str]:
        """What a chapter gave, seen from a later position."""

    def table(self, state: Any) -> list[str]:
        """What lies there and is better seen than told; nothing where actions tell it all."""

    def position(self, state: Any, names: Names) -> list[str]:
        """A whole position: all hands, whoever may see them."""


_PICTURES: dict[str, Picture] = {
    "poke": PokePicture(),
    "saint_poker": SaintPokerPicture(),
    "pokex": PokexPicture(),
    "pouku": PoukuPicture(),
    "pokino": PokinoPicture(),
}


def picture_of(game: str) -> Picture:
    """The picture of a game."""
    return _PICTURES.get(game, PlainPicture())

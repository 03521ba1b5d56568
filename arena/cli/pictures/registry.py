"""Registry of the text pictures of the games, with a plain default."""

from collections.abc import Sequence
from typing import Any, Protocol

from arena.cli.pictures.poke import PokePicture
from arena.cli.pictures.pokex import PokexPicture
from arena.cli.pictures.pokino import PokinoPicture
from arena.cli.pictures.pouku import PoukuPicture
from arena.cli.pictures.saint_poker import SaintPokerPicture
from referee.replay import position

# Default picture: every field of a position by name.


class PlainPicture:
    """Draws positions of any game."""

    def chapter(self, state: Any) -> int:
        """Return 0: the whole game is one chapter."""
        return 0

    def opening(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return nothing."""
        return []

    def closing(self, state: Any, chapter: int, names: Sequence[str]) -> list[str]:
        """Return nothing."""
        return []

    def table(self, state: Any) -> list[str]:
        """Return nothing."""
        return []

    def position(self, state: Any, names: Sequence[str]) -> list[str]:
        """Return one line per field."""
        return [f"{name}: {value}" for name, value in position(state).items()]


Names = Sequence[str]
"""Names of the players by seat."""


class Picture(Protocol):
    """Draws the positions of one game as lines of text without colours."""

    def chapter(self, state: Any) -> int:
        """Return the number, from 0, of the current deal or round."""

    def opening(self, state: Any, names: Names) -> list[str]:
        """Return the beginning of a chapter, with the cards dealt."""

    def closing(self, state: Any, chapter: int, names: Names) -> list[str]:
        """Return the result of a chapter, computed from a later position."""

    def table(self, state: Any) -> list[str]:
        """Return elements that are best drawn; nothing if the actions describe them completely."""

    def position(self, state: Any, names: Names) -> list[str]:
        """Return the whole position with all hands open."""


_PICTURES: dict[str, Picture] = {
    "poke": PokePicture(),
    "saint_poker": SaintPokerPicture(),
    "pokex": PokexPicture(),
    "pouku": PoukuPicture(),
    "pokino": PokinoPicture(),
}


def picture_of(game: str) -> Picture:
    """Return the picture of a game."""
    return _PICTURES.get(game, PlainPicture())

"""The table of Pokino: dominoes, tokens and the data derived from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from referee.games.pokino.actions import PokinoTile, PokinoToken
from referee.games.pokino.grid import coordinates, ends, pair, square
from referee.games.pokino.table_index import Ground
from referee.games.shared.dominoes import NUMBERS, Tile


@dataclass(frozen=True, init=False)
class PokinoLayout:
    """The face-up dominoes and the tokens, each in the order of their placement.

    Derived data is computed once and cached; it is not part of the value.
    """

    __slots__ = ("_ground", "tiles", "tokens")

    tiles: tuple[PokinoTile, ...]
    tokens: tuple[PokinoToken, ...]

    def __init__(
        self,
        tiles: tuple[PokinoTile, ...] = (),
        tokens: tuple[PokinoToken, ...] = (),
        ground: Ground | None = None,
    ) -> None:
        fix = object.__setattr__
        fix(self, "tiles", tiles)
        fix(self, "tokens", tokens)
        fix(self, "_ground", ground)

    def __reduce__(self) -> Any:
        return PokinoLayout, (self.tiles, self.tokens)

    @property
    def ground(self) -> Ground:
        """Return the derived numbers, borders and places."""
        ground: Ground | None = self._ground  # type: ignore[attr-defined]
        if ground is None:
            ground = Ground()
            for tile in self.tiles:
                ground = ground.laid(*_squares(tile), *NUMBERS[tile.domino])
            ground = ground.closed(map(_border, self.tokens))
            object.__setattr__(self, "_ground", ground)
        return ground

    def laid(self, domino: Tile, first: int, second: int) -> "PokinoLayout":
        """Add a domino with its smaller number on the first square."""
        tile = PokinoTile(domino, *coordinates(first), *coordinates(second))
        ground = self.ground.laid(first, second, *NUMBERS[domino])
        return PokinoLayout((*self.tiles, tile), self.tokens, ground)

    def closed(self, borders: Iterable[int], owner: int) -> "PokinoLayout":
        """Place a token on each of these borders."""
        fresh = list(borders)
        tokens = [
            PokinoToken(*coordinates(first), *coordinates(second), owner)
            for first, second in map(ends, fresh)
        ]
        return PokinoLayout(self.tiles, (*self.tokens, *tokens), self.ground.closed(fresh))

    def without(self, middles: Iterable[int]) -> "PokinoLayout":
        """Remove the dominoes with these middles, and all tokens at their borders."""
        gone = {number for middle in middles for number in ends(middle)}
        return PokinoLayout(
            tuple(tile for tile in self.tiles if _squares(tile)[0] not in gone),
            tuple(t for t in self.tokens if not gone.intersection(ends(_border(t)))),
            self.ground.without(gone),
        )

    def domino_at(self, middle: int) -> Tile:
        """Return the domino with this middle."""
        return next(tile.domino for tile in self.tiles if pair(*_squares(tile)) == middle)

    def owners(self) -> dict[Tile, list[int]]:
        """Return the owners of the tokens at the borders of each domino, one entry per token."""
        owners: dict[Tile, list[int]] = {tile.domino: [] for tile in self.tiles}
        lying = {number: tile.domino for tile in self.tiles for number in _squares(tile)}
        for token in self.tokens:
            for number in ends(_border(token)):
                owners[lying[number]].append(token.owner)
        return owners


def _squares(tile: PokinoTile) -> tuple[int, int]:
    """Return the squares of a domino, that of its smaller number first."""
    return square(tile.x, tile.y), square(tile.second_x, tile.second_y)


def _border(token: PokinoToken) -> int:
    """Return the border with this token."""
    return pair(square(token.x, token.y), square(token.second_x, token.second_y))

"""Every game of the registry with every number of seats and every setting of its options."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from referee.codec import Codec
from referee.dealing import Luck
from referee.games.contract import Game, SetupError, State
from referee.games.registry import GAMES


@dataclass(frozen=True)
class Table:
    """A game as it is set up."""

    game: Game
    seats: int
    settings: tuple[tuple[str, bool | int], ...]

    @property
    def options(self) -> dict[str, bool | int]:
        """The value of every option."""
        return dict(self.settings)

    @cached_property
    def codec(self) -> Codec:
        """The codec of the game."""
        return Codec(self.game)

    def start(self, luck: Luck) -> State:
        """The first position."""
        return self.game.start(luck, self.seats, self.options)

    def __str__(self) -> str:
        told = [f"{name}={str(value).lower()}" for name, value in self.settings]
        return "-".join([self.game.id, str(self.seats), *told])


def settings(game: Game) -> Iterator[tuple[tuple[str, bool | int], ...]]:
    """Every setting of the options; a whole number has its default alone."""
    values: Iterable[tuple[bool | int, ...]] = (
        (False, True) if isinstance(option.default, bool) else (option.default,)
        for option in game.options.values()
    )
    for chosen in product(*values):
        yield tuple(zip(game.options, chosen, strict=True))


def tables(games: Mapping[str, Game]) -> Iterator[Table]:
    """The tables at which the games can be played."""
    for game in games.values():
        for seats, chosen in product(game.seats, settings(game)):
            try:
                game.check_seats(seats, dict(chosen))
            except SetupError:
                continue
            yield Table(game, seats, chosen)


TABLES = tuple(tables(GAMES))

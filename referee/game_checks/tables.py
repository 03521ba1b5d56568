"""Tables of a game: its numbers of seats with values of its options."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from referee.game_codec import GameCodec
from referee.games.contract import Game, Option, OptionValue, State
from referee.games.shared.dealing import Chance
from referee.generic_codec import new_codec

Settings = tuple[tuple[str, OptionValue], ...]


@dataclass(frozen=True)
class Table:
    """A game with its number of seats and option settings."""

    game: Game
    seats: int
    settings: Settings

    @property
    def options(self) -> dict[str, OptionValue]:
        """The value of every option."""
        return dict(self.settings)

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of each seat."""
        return self.game.sides(self.seats, self.options)

    @cached_property
    def codec(self) -> GameCodec:
        return new_codec(self.game)

    def start(self, luck: Chance) -> State:
        """Return the first position."""
        return self.game.start(luck, self.seats, self.options)

    def __str__(self) -> str:
        settings = [
            _option_text(name, value) for name, value in self.settings if self._is_in_label(name)
        ]
        return "-".join([self.game.id, str(self.seats), *settings])

    def _is_in_label(self, name: str) -> bool:
        option = self.game.options[name]
        has_values = bool(option.choices) or isinstance(option.default, bool)
        return has_values or self.options[name] != option.default


def _option_text(name: str, value: OptionValue) -> str:
    return f"{name}={str(value).lower()}"


def option_values(option: Option) -> tuple[OptionValue, ...]:
    """Return the tested values of an option; a whole number has only its default."""
    if option.choices:
        return option.choices
    return (False, True) if isinstance(option.default, bool) else (option.default,)


def _settings(game: Game) -> Iterator[Settings]:
    for chosen in product(*map(option_values, game.options.values())):
        yield tuple(zip(game.options, chosen, strict=True))


def tables_of(game: Game) -> Iterator[Table]:
    """Yield the tested tables of a game.

    These are: every setting of the options at the smallest table that allows it, every number of
    seats with the default options, and the largest table with all switches on.
    """
    usual = tuple((name, option.default) for name, option in game.options.items())
    every = list(_settings(game))
    combinations = [
        (next((n for n in game.seats if game.allows(n, dict(choice))), 0), choice)
        for choice in every
    ]
    combinations += product(game.seats, [usual])
    combinations += [(n, every[-1]) for n in game.seats[-1:]]
    for seats, chosen in dict.fromkeys(combinations):
        if game.allows(seats, dict(chosen)):
            yield Table(game, seats, chosen)

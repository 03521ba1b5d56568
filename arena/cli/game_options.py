"""Parse the game, its options and the number of seats on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from arena.cli.errors import usage_error
from arena.store import match_settings
from referee.games.contract import Game, OptionValue, join_alternatives
from referee.sanitizing import quote

if TYPE_CHECKING:
    from arena.bots.bot import Bot

T = TypeVar("T", bound=match_settings.MatchSettings)


def named(pairs: Sequence[str]) -> dict[str, OptionValue]:
    """Return the options in texts such as "must_beat=false", by name."""
    values: dict[str, OptionValue] = {}
    for name, value in map(option, pairs):
        if values.setdefault(name, value) != value:
            raise usage_error(
                f"--option {name} is given twice, as {_shown(values[name])} and {_shown(value)}; "
                "give it once.",
                "option-twice",
            )
    return values


def _shown(value: object) -> str:
    return "true" if value is True else f'"{quote(str(value), 60)}"'


def option(text: str) -> tuple[str, OptionValue]:
    """Return the name and value in a text such as "must_beat=false"; the default is true."""
    name, equals, value = text.partition("=")
    return name, value if equals else True


def check_plays(bot: Bot, game: Game) -> None:
    """Raise CommandError if the bot's bot.toml excludes the game."""
    if not bot.plays(game.id):
        raise usage_error(
            f'{bot.label} does not play {game.id}: it is not in the list "games" of its bot.toml.',
            "not-played",
        )


def settled(settings: T, entrants: int) -> T:
    """Return the settings of a match with all options of the game and its number of seats.

    All entrants sit at each table.
    """
    game = match_settings.game_named(settings.game)
    options = match_settings.settled_options(game, settings.options)
    seats = _seats_for(game, options, entrants, settings.seats)
    return replace(settings, game=game.id, options=options, seats=seats)


def _seats_for(game: Game, options: dict[str, OptionValue], entrants: int, seats: int) -> int:
    """Return the first allowed number of seats for exactly this number of entrants."""
    if seats:
        game.check_new(seats, options)
    by_seats = {
        number: game.side_count(number, options)
        for number in ((seats,) if seats else game.seats)
        if game.allows(number, options)
    }
    fitting = [number for number, sides in by_seats.items() if sides == entrants]
    if not fitting:
        if not seats:
            match_settings.check_possible(game, options, entrants)
        allowed = join_alternatives(sorted(set(by_seats.values())))
        conditions = f" at {seats} seats" if seats else ""
        turned = [
            n for n, value in options.items() if value is True and not game.options[n].default
        ]
        conditions += f" with {' and '.join(turned)}" if turned else ""
        raise usage_error(
            f"{game.id} needs {allowed} bots{conditions}, and {entrants} "
            f"{'is' if entrants == 1 else 'are'} given."
            f"{_option_hint(game, options, entrants)}",
            "wrong-number-of-bots",
        )
    return fitting[0]


def _option_hint(game: Game, options: Mapping[str, OptionValue], entrants: int) -> str:
    """Return a sentence with the first option that would allow this number of entrants."""
    for name, option in game.options.items():
        if option.default is False and not options[name]:
            changed = {**options, name: True}
            sides = {n: game.side_count(n, changed) for n in game.seats if game.allows(n, changed)}
            if entrants in sides.values():
                return f" {entrants} bots can play it with --option {name}."
    return ""

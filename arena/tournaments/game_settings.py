"""Validate the game, its options and its seats, as named on the command line or in a form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

from arena.errors import InvalidSettings, nearest
from referee.games.contract import Game, OptionValue
from referee.games.registry import GAMES

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")


def seed_of(text: str) -> bytes:
    """Return the 32 bytes of a seed: 64 hexadecimal digits, or else the SHA-256 of the text."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).digest()


def unknown_name(what: str, word: str, known: Iterable[str]) -> InvalidSettings:
    """Return the error for an unknown name, with the nearest known one."""
    names = list(known)
    hint = nearest(word, names) or f"; available: {', '.join(names)}." * bool(names)
    return InvalidSettings(f'unknown {what} "{word}"{hint}', code="unknown-name")


def game_named(name: str) -> Game:
    """Return the game with this id.

    Raises:
        InvalidSettings: the game is unknown.
    """
    game = GAMES.get(name) or GAMES.get(name.replace("-", "_").lower())
    if game is None:
        raise unknown_name("game", name, sorted(GAMES))
    return game


def settled_options(game: Game, given: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return a value for every option of the game.

    Raises:
        InvalidSettings: an option is unknown or lacks a value.
    """
    for name, value in given.items():
        if name not in game.options:
            raise unknown_name(f"option of {game.id}", name, sorted(game.options))
        if value is True and not isinstance(game.options[name].default, bool):
            raise InvalidSettings(
                f"option {name} needs a value; write {name}=VALUE.", code="value-missing"
            )
    return game.settle(given)


def usual_seats(game: Game, options: Mapping[str, OptionValue], entrants: int) -> int:
    """Return the first allowed number of seats that the entrants can fill.

    Raises:
        SetupError: the entrants fill only tables that new matches may not have.
    """
    allowed = [number for number in game.seats if game.allows(number, options)]
    enough = [number for number in allowed if game.side_count(number, options) <= entrants]
    if not enough:
        check_possible(game, options, entrants)
    return (enough or allowed)[0]


def check_possible(game: Game, options: Mapping[str, OptionValue], entrants: int) -> None:
    """Check that the number of entrants, not an option, is why no number of seats fits.

    Raises:
        SetupError: the entrants fill a table that new matches may not have.
    """
    for number in game.seats:
        if game.side_count(number, options) == entrants:
            game.check_new(number, options)

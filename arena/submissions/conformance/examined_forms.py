"""The forms in which games are tested. They come from the registry, so new games are included."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from arena.store.match_settings import Clock, MatchSettings
from arena.store.matches.spec import Entrant, MatchSpec, single_match
from referee.games.contract import Game, Option, OptionValue

CLOCK: Final = Clock()
"""Clock of an ordinary match."""


def forms(game: Game) -> tuple[MatchSettings, ...]:
    """Return the forms of a game, the default one first, the one that differs most last.

    The forms are: every number of seats with default options; every combination of options at the
    smallest table that allows it; and the largest table with the last combination, in which every
    option differs from its default if it has several values.
    """
    usual = {name: option.default for name, option in game.options.items()}
    every = list(_settings(game))
    combinations = [(seats, usual) for seats in game.seats]
    combinations += [
        (min(s for s in game.seats if game.allows(s, choice)), choice) for choice in every
    ]
    combinations += [(max(game.seats), every[-1])]
    distinct: list[MatchSettings] = []
    for seats, options in combinations:
        form = MatchSettings(
            game=game.id, options=options, seats=seats, clock=CLOCK, faults="strict"
        )
        if game.allows(seats, options) and form not in distinct:
            distinct.append(form)
    return tuple(distinct)


def varied_forms(game: Game) -> tuple[MatchSettings, ...]:
    """Return the most different forms: all numbers of seats with defaults, and the last form."""
    every = forms(game)
    usual = every[0].options
    return tuple(f for f in every if f.options == usual or f is every[-1])


def _settings(game: Game) -> Iterator[dict[str, OptionValue]]:
    for chosen in product(*map(_values, game.options.values())):
        yield dict(zip(game.options, chosen, strict=True))


def _values(option: Option) -> tuple[OptionValue, ...]:
    """Return the values of an option, the default first; for an integer only the default."""
    if option.choices:
        return tuple(sorted(option.choices, key=lambda choice: choice != option.default))
    if isinstance(option.default, bool):
        return (option.default, not option.default)
    return (option.default,)


def match_of(
    form: MatchSettings, what: str, seed: bytes, boards: int, entrants: tuple[Entrant, ...]
) -> MatchSpec:
    """Return a match of this form.

    The same arguments produce the same match, because they determine its ID and its cards.

    Args:
        seed: the seed of the examination, 32 bytes.
    """
    seed_bytes = hashlib.sha256(f"{what}\0{form.form}\0".encode() + seed).digest()
    return single_match("test", replace(form, boards=boards), seed_bytes, entrants)

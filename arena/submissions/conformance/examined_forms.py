"""The forms in which games are tested. They come from the registry, so new games are included."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Final

from arena.bots.bot import Bot
from arena.store import ids
from arena.store.matches.spec import Clock, Entrant, MatchSpec
from referee.games.contract import Game, Option, OptionValue
from referee.games.registry import form_of
from referee.games.shared.dealing import commitment

CLOCK: Final = Clock()
"""Clock of an ordinary match."""


@dataclass(frozen=True, slots=True)
class ExaminedForm:
    """A game with a number of seats and options."""

    game: Game
    seats: int
    options: Mapping[str, OptionValue]
    """A value for every option of the game."""

    @property
    def name(self) -> str:
        """Name of the form's ladder, for example "pokex-4"."""
        return form_of(self.game.id, self.seats, self.options)

    @property
    def sides(self) -> int:
        """Number of bots that play the form."""
        return self.game.side_count(self.seats, self.options)

    @property
    def has_changed_option(self) -> bool:
        """Whether an option differs from its default."""
        return any(v != self.game.options[n].default for n, v in self.options.items())


def forms(game: Game) -> tuple[ExaminedForm, ...]:
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
    distinct: list[ExaminedForm] = []
    for seats, options in combinations:
        form = ExaminedForm(game, seats, options)
        if game.allows(seats, options) and form not in distinct:
            distinct.append(form)
    return tuple(distinct)


def varied_forms(game: Game) -> tuple[ExaminedForm, ...]:
    """Return the most different forms: all numbers of seats with defaults, and the last form."""
    every = forms(game)
    return tuple(f for f in every if not f.has_changed_option or f is every[-1])


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
    form: ExaminedForm, what: str, seed: bytes, boards: int, entrants: tuple[Entrant, ...]
) -> MatchSpec:
    """Return a match of this form with the default clock that ends at the first fault.

    The same arguments produce the same match, because they determine its ID and its cards.

    Args:
        form: the form.
        what: the purpose of the match.
        seed: the seed of the examination, 32 bytes.
        boards: the number of boards.
        entrants: the match's entrants.
    """
    seed_bytes = hashlib.sha256(f"{what}\0{form.name}\0".encode() + seed).digest()
    agreed = {
        "game": form.game.id,
        "options": dict(form.options),
        "seats": form.seats,
        "boards": boards,
        "clock": asdict(CLOCK),
        "policy": "strict",
        "seed": seed_bytes.hex(),
    }
    contents = [f"{entrant.version} {entrant.content_hash}" for entrant in entrants]
    key = ids.match_key(agreed, 0, 0, contents)
    return MatchSpec(
        id=ids.match_id("test", key),
        tournament=None,
        round=0,
        number=0,
        game=form.game.id,
        options=form.options,
        seats=form.seats,
        boards=boards,
        clock=CLOCK,
        policy="strict",
        entrants=entrants,
        commitment=commitment(seed_bytes),
        seed=seed_bytes,
    )


def entrant_of(bot: Bot, content: str) -> Entrant:
    """Return a bot as an entrant of a match's record."""
    manifest = {} if bot.manifest is None else asdict(bot.manifest)
    return Entrant(bot.label, content, "" if bot.remote else str(bot.folder), manifest)

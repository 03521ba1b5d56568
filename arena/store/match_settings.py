"""The settings of matches and tournaments: their types, defaults, checks and conversions.

Files, options, forms and the API are read into these types by
`arena.tournaments.tournament_request`. Rows and bundles store them, and messages to bots and to the
referee are made from them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeAlias

from msgspec import Meta

from arena.config import ALLOWANCE_MS, BANK_MS, BOARDS, CORRECTIONS, SEATS, START_MS, Bounds
from arena.errors import (
    BadName,
    InvalidSettings,
    OutOfRange,
    check_name,
    check_new_name,
    nearest,
)
from referee.games.contract import Game, OptionValue, SetupError
from referee.games.game_packages import absence
from referee.games.registry import GAMES, find_game, form_of, parse_form
from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    from pokearena.v1 import bot_pb2

Setting: TypeAlias = bool | int | float | str
"""The value of a setting of a format."""


def within(bounds: Bounds) -> Meta:
    """Return the constraint of a whole number in a file, a form or a request."""
    return Meta(ge=bounds.least, le=bounds.most, description=str(bounds))


def _values(kinds: str) -> Meta:
    return Meta(description=f"a table of {kinds} and strings")


def _games() -> Collection[str]:
    return GAMES


def _formats() -> Collection[str]:
    from arena.formats import registry  # Loads all formats, which a ladder does not need.

    return registry.FORMATS


def _is_game(name: str) -> bool:
    # `game_named` explains why the game of a package is not available.
    return name.replace("-", "_").lower() in GAMES or bool(absence(name))


LONGEST_SLOW_MS: Final = (15_000, 900_000)
"""The longest allowance and bank of the clock class `slow`; longer ones are of class `model`."""


class ClockClass(StrEnum):
    """How long bots may think; each class of a form has its own ladder."""

    FAST = "fast"
    """An allowance below 1 s and a bank of at most 60 s."""
    SLOW = "slow"
    """An allowance of at most 15 s and a bank of at most 15 min."""
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Clock:
    """Time limits of a bot in ms: to start, for each decision, and a bank for each table."""

    start_ms: Annotated[int, within(START_MS)] = START_MS.usual
    allowance_ms: Annotated[int, within(ALLOWANCE_MS)] = ALLOWANCE_MS.usual
    bank_ms: Annotated[int, within(BANK_MS)] = BANK_MS.usual

    @property
    def clock_class(self) -> ClockClass:
        if self.allowance_ms < 1_000 and self.bank_ms <= 60_000:
            return ClockClass.FAST
        allowance_ms, bank_ms = LONGEST_SLOW_MS
        if self.allowance_ms <= allowance_ms and self.bank_ms <= bank_ms:
            return ClockClass.SLOW
        return ClockClass.MODEL

    def message(self, bank_ms: float | None = None) -> bot_pb2.Clock:
        """Return the clock of a question, with a full bank or with what is left of it."""
        from pokearena.v1 import bot_pb2  # Slow to import; a list of options does not need it.

        left = self.bank_ms if bank_ms is None else int(bank_ms)
        return bot_pb2.Clock(allowance_ms=self.allowance_ms, bank_ms=left)


USUAL_CLOCKS: Final = {
    ClockClass.FAST: Clock(),
    ClockClass.SLOW: Clock(allowance_ms=5_000, bank_ms=300_000),
    ClockClass.MODEL: Clock(allowance_ms=60_000, bank_ms=900_000),
}
"""The clocks of open ladders."""

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "slow": {"boards": 5, "clock": asdict(USUAL_CLOCKS[ClockClass.SLOW])},
    "models": {
        # The rules of no game end it after one deal, so a short match has one board.
        "boards": 1,
        "corrections": 2,
        "clock": asdict(USUAL_CLOCKS[ClockClass.MODEL]),
    },
}
"""Values of settings that replace the defaults, by the name of the preset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSettings:
    """The terms of a match, without its entrants and its seed."""

    game: Annotated[str, Meta(extra={"choices": _games, "allows": _is_game})]
    options: Annotated[Mapping[str, OptionValue], _values("booleans, whole numbers")] = field(
        default_factory=dict
    )
    """Values of the options of the game; complete once the settings are settled."""
    seats: Annotated[int, within(SEATS)] = 0
    """0 until the settings are settled: the first number that fits the options and the entrants."""
    boards: Annotated[int, within(BOARDS)] = BOARDS.usual
    """Number of boards of each match."""
    clock: Clock = Clock()
    faults: Literal["lenient", "unforgiving", "strict"] = "lenient"
    """The penalty for faults, called `policy` where it is stored or published: the third fault
    ("lenient") or the first ("unforgiving") forfeits the rest of the table, or the first ends the
    match ("strict", for the author of a bot)."""
    corrections: Annotated[int, within(CORRECTIONS)] = CORRECTIONS.usual
    """Number of corrections of an illegal or unreadable answer per question."""

    @property
    def rules(self) -> Game:
        return find_game(self.game)

    @property
    def form(self) -> str:
        return form_of(self.game, self.seats, self.options)

    @property
    def ladder(self) -> str:
        """The name of the ladder of its form and clock class."""
        return ladder_name(self.form, self.clock.clock_class)

    @property
    def sides(self) -> int:
        """Number of entrants at a table."""
        return self.rules.side_count(self.seats, self.options)

    def agreed(self) -> dict[str, object]:
        """Return the settings, which determine the keys of matches, as JSON values."""
        return {
            "game": self.game,
            "options": dict(self.options),
            "seats": self.seats,
            "boards": self.boards,
            "clock": asdict(self.clock),
            "policy": self.faults,
            # Omitted by default, so that the keys of matches stay as they were.
            **({"corrections": self.corrections} if self.corrections else {}),
        }

    def values(self) -> dict[str, Any]:
        """Return these settings as arguments of a type that extends them."""
        return {each.name: getattr(self, each.name) for each in fields(MatchSettings)}

    def option_texts(self) -> dict[str, str]:
        """Return the options as messages contain them."""
        return {name: str(value).lower() for name, value in self.options.items()}

    def start_request(self, match: str, seat: int) -> bot_pb2.StartRequest:
        """Return the first message to the bot at a seat."""
        from pokearena.v1 import bot_pb2

        from arena.presentation import shipped_docs
        from referee.presentation.question_text import TEXT_VERSION

        return bot_pb2.StartRequest(
            match=match,
            game=self.game,
            seats=self.seats,
            seat=seat,
            options=self.option_texts(),
            games=self.boards,
            clock=self.clock.message(),
            corrections=self.corrections,
            rules=shipped_docs.rules(self.game),
            text_version=TEXT_VERSION,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentPlan(MatchSettings):
    """The settings that all matches of a tournament share, and the tournament's name and format."""

    name: Annotated[str, Meta(min_length=1, description="a name that is not empty")] = ""
    """Empty until the settings are settled: the game."""
    format: Annotated[str, Meta(extra={"choices": _formats})] = "round-robin"
    settings: Annotated[Mapping[str, Setting], _values("booleans, numbers")] = field(
        default_factory=dict
    )
    """The format's settings that differ from their defaults."""
    faults: Literal["lenient", "unforgiving"] = "lenient"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            **self.agreed(),
            "format": self.format,
            "settings": dict(self.settings),
        }

    def columns(self) -> dict[str, Any]:
        """Return the plan as columns of a row of `tournaments`."""
        clock = asdict(self.clock)
        return {name: v for name, v in self.to_json().items() if name != "clock"} | clock

    def settled(self, entrants: int) -> Self:
        """Return the checked settings with all values that they omit.

        Args:
            entrants: the number of entrants of the tournament.

        Raises:
            InvalidSettings: a setting is unknown or not valid, or the entrants cannot fill a table.
        """
        from arena.formats import registry

        rules = game_named(self.game)
        with _placed("name"):
            if self.name:
                check_name("a tournament", self.name)
                check_new_name("a tournament", self.name)
        options = settled_options(rules, self.options)
        settings = _settled_settings(self.format, self.settings)
        with _placed("seats"):
            seats = self.seats or usual_seats(rules, options, entrants)
            rules.check_new(seats, options)
        sides = rules.side_count(seats, options)
        if entrants < sides:
            named = f"{entrants} {'is' if entrants == 1 else 'are'} named"
            raise InvalidSettings(
                f"a table of {rules.id} takes {sides} bots here; {named}.", key=("bots",)
            )
        with _placed("settings"):
            registry.make(self.format, sides, settings)
        return replace(
            self,
            name=self.name or rules.id,
            game=rules.id,
            options=options,
            seats=seats,
            settings=settings,
        )

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the plan in a row of `tournaments`."""
        own = {name: row[name] for name in ("name", "format", "settings")}
        return cls(**stored_values(row), **own)


def stored_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a match in a row of `tournaments`, as `MatchSettings.values` does."""
    return {
        **{name: row[name] for name in ("game", "options", "seats", "boards")},
        "clock": Clock(row["start_ms"], row["allowance_ms"], row["bank_ms"]),
        "faults": row["policy"],
        "corrections": row["corrections"],
    }


def ladder_name(form: str, clock_class: ClockClass) -> str:
    """Return the name of a ladder: its form, with the clock class unless that is `fast`."""
    return form if clock_class is ClockClass.FAST else f"{form}~{clock_class}"


def game_of_ladder(name: str) -> str:
    """Return the id of the game in the name of a ladder or a form."""
    return re.split("[-~]", name)[0]


def is_of_ladder(row: Any, name: str) -> bool:
    """Return whether a row of `tournaments` has this form or ladder, or the name is empty.

    The name of a form alone selects all its clock classes; "GAME~fast" selects only fast ones.
    """
    if not name:
        return True
    return name in names_of_ladder(form_of(row.game, row.seats, row.options), _clock_class_of(row))


def names_of_ladder(form: str, clock_class: ClockClass) -> tuple[str, str]:
    """Return the names that select a ladder: that of its form, and the one with its clock class."""
    return form, f"{form}~{clock_class}"


def ladder_of_row(row: Any) -> str:
    """Return the name of the ladder of a row of `tournaments`."""
    return ladder_name(form_of(row.game, row.seats, row.options), _clock_class_of(row))


def _clock_class_of(row: Any) -> ClockClass:
    return Clock(allowance_ms=row.allowance_ms, bank_ms=row.bank_ms).clock_class


_LONGEST_LADDER: Final = 200


def parse_ladder(name: str) -> tuple[Game, int | None, dict[str, OptionValue], ClockClass]:
    """Return the game, seats, options and clock class of a form or ladder such as "GAME-3~slow".

    The number of seats is None if the name omits it.

    Raises:
        InvalidSettings: the name does not describe a possible form or clock class.
    """
    form, _, word = name.partition("~")
    if word and word not in list(ClockClass):
        raise unknown_name("clock class", word, ClockClass)
    game, rest = _game_and_rest(form)
    _, seats, options = parse_form(f"{game.id}-{rest[:_LONGEST_LADDER]}" if rest else game.id)
    if seats is not None and seats not in game.seats:
        raise InvalidSettings(f"{game.id} has no table of {seats} seats.", code="unknown-form")
    return game, seats, settled_options(game, options), ClockClass(word or ClockClass.FAST)


def _game_and_rest(form: str) -> tuple[Game, str]:
    """Split the name of a form after its game, whose id may have hyphens instead of underscores."""
    words = form.split("-")
    most = max(name.count("_") for name in GAMES) + 1
    for number in range(min(most, len(words)), 1, -1):
        if "_".join(words[:number]).lower() in GAMES:
            return game_named("_".join(words[:number])), "-".join(words[number:])
    return game_named(words[0]), "-".join(words[1:])


def canonical_ladder(name: str) -> str:
    """Return the name of a form or ladder as it is stored.

    The game may be written with capitals, and with hyphens instead of underscores. The first
    possible number of seats is added if the game has several, and options with their default are
    left out. The clock class stays if it is given.

    Raises:
        InvalidSettings: as for `parse_ladder`, or the options do not allow these seats.
    """
    game, seats, options, _ = parse_ladder(name)
    try:
        form = one_game(game, options, seats).form
    except SetupError as error:
        raise InvalidSettings(str(error), code="unknown-form") from None
    _, tilde, word = name.partition("~")
    return f"{form}{tilde}{word}" if word else form


def plain_ladder(name: str) -> str:
    """Return a canonical name without the clock class `fast`, as ladders are stored."""
    return name.removesuffix(f"~{ClockClass.FAST}")


_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")


def seed_of(text: str) -> bytes:
    """Return the 32 bytes of a seed: 64 hexadecimal digits, or else the SHA-256 of the text."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).digest()


def unknown_name(what: str, word: str, known: Iterable[str], *key: str) -> InvalidSettings:
    """Return the error for an unknown name, with the nearest known one."""
    names = list(known)
    hint = nearest(word, names) or f"; available: {', '.join(names)}." * bool(names)
    return InvalidSettings(f'unknown {what} "{word}"{hint}', code="unknown-name", key=key)


def game_named(name: str) -> Game:
    """Return the game with this id.

    Raises:
        InvalidSettings: the game is unknown.
    """
    game = GAMES.get(name) or GAMES.get(name.replace("-", "_").lower())
    if game is None:
        if reason := absence(name):
            raise InvalidSettings(
                f'the game "{name}" is not available; {reason}.', code="absent-game", key=("game",)
            )
        raise unknown_name("game", name, sorted(GAMES), "game")
    return game


def one_game(game: Game, options: Mapping[str, object], seats: int | None = None) -> MatchSettings:
    """Return the settings of a match of one game against bots.

    Args:
        options: values of its options; defaults replace those that are missing.
        seats: the number of seats; None: the first that the options allow.

    Raises:
        SetupError: an option or the number of seats is not allowed.
    """
    settled = game.settle(options)
    if seats is None:
        seats = next(number for number in game.seats if game.allows(number, settled))
    game.check_new(seats, settled)
    return MatchSettings(game=game.id, options=settled, seats=seats, boards=1)


def settled_options(game: Game, given: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return a value for every option of the game.

    Raises:
        InvalidSettings: an option is unknown, lacks a value or has one that is not valid.
    """
    for name, value in given.items():
        if name not in game.options:
            raise unknown_name(f"option of {game.id}", name, sorted(game.options), "options", name)
        if value is True and not isinstance(game.options[name].default, bool):
            raise InvalidSettings(
                f"option {name} needs a value; write {name}=VALUE.",
                code="value-missing",
                key=("options", name),
            )
        with _placed("options", name):
            game.settle({name: value})
    return game.settle(given)


def _settled_settings(name: str, given: Mapping[str, Setting]) -> dict[str, Setting]:
    """Convert a format's settings to their types; parse those given as text."""
    from arena.formats import registry

    known = registry.settings_of(name)
    settings: dict[str, Setting] = {}
    for word, value in given.items():
        if word not in known:
            raise unknown_name(f"setting of {name}", word, known, "settings", word)
        settings[word] = _setting(word, value, known[word])
        with _placed("settings", word):
            registry.check_setting(word, settings[word])
    return settings


def _setting(name: str, value: Setting, kind: type) -> Setting:
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    parsers: dict[type, Callable[[str], Setting]] = {
        bool: lambda text: {"true": True, "false": False}[text],
        int: int,
        float: float,
    }
    try:
        if isinstance(value, str):
            return parsers[kind](value)
    except (KeyError, ValueError):
        pass
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
    raise InvalidSettings(
        f'"{name}" must be {expected[kind]}, not {value!r}.', key=("settings", name)
    )


@contextmanager
def _placed(*key: str) -> Iterator[None]:
    """Report an error of a value with the place of the value in the settings."""
    try:
        yield
    except (BadName, OutOfRange) as error:
        raise InvalidSettings(str(error), code=error.code, key=key) from None
    except InvalidValue as error:
        raise InvalidSettings(f"{error}.", code=error.code, key=key) from None


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

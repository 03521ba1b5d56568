"""Turn the requested settings of a tournament into a checked plan, and preview its schedule.

The command line and the organiser's pages and API use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.errors import InvalidSettings, check_name, check_new_name, check_owner
from arena.formats.contract import Fixture, FormatEntrant
from arena.formats.registry import CLOSED as CLOSED_FORMATS
from arena.formats.registry import FORMATS, settings_of
from arena.store.matches.spec import TournamentPlan
from arena.store.tournaments import tournaments
from arena.tournaments import game_settings, json_values, scheduler, time_estimate
from referee.games.registry import find

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament
    from arena.tournaments.tournament_file import TournamentSpec


def plan_of(spec: TournamentSpec) -> TournamentPlan:
    """Return the plan of a tournament. Stores nothing.

    Raises:
        InvalidSettings: a setting is unknown or not valid, or the entrants cannot fill a table.
        BadName: a name is not valid.
        OutOfRange: a number is outside its range.
        SetupError: the game does not allow these seats or options.
    """
    rules = game_settings.game_named(spec.game)
    options = game_settings.settled_options(rules, spec.options)
    if spec.faults not in ("lenient", "unforgiving"):
        raise InvalidSettings(f"faults are lenient or unforgiving, not {spec.faults!r}.")
    entrants = len(spec.bots)
    if spec.name:
        check_name("a tournament", spec.name)
        check_new_name("a tournament", spec.name)
    for owner in {bot.owner for bot in spec.bots if bot.owner}:
        check_owner(owner)
    seats = spec.seats
    plan = TournamentPlan(
        name=spec.name or rules.id,
        game=rules.id,
        options=options,
        seats=game_settings.usual_seats(rules, options, entrants) if seats is None else seats,
        boards=spec.boards,
        format=spec.format,
        settings=settled(spec.format, spec.settings),
        clock=spec.clock,
        policy=spec.faults,
    )
    tournaments.check_plan(plan)
    check_entrants(plan, entrants)
    return plan


def check_entrants(plan: TournamentPlan, entrants: int) -> int:
    """Return the number of entrants at a table.

    Raises:
        InvalidSettings: the entrants cannot fill a table.
        SetupError: the game cannot be played with these seats and options.
    """
    game = find(plan.game)
    options = game.settle(plan.options)
    game.check_new(plan.seats, options)
    sides = game.side_count(plan.seats, options)
    if entrants < sides:
        named = f"{entrants} {'is' if entrants == 1 else 'are'} named"
        raise InvalidSettings(f"a table of {plan.game} takes {sides} bots here; {named}.")
    return sides


def check_plays(bot: str, games: Sequence[str] | None, game: str) -> None:
    """Check that a bot plays a game.

    Args:
        bot: its label, for the message.
        games: the games in its manifest; None or empty: all.
        game: the id of the game.

    Raises:
        InvalidSettings: it does not.
    """
    if games and game not in games:
        raise InvalidSettings(
            f'{bot} does not play {game}: it is not in the list "games" of its bot.toml.',
            code="not-played",
        )


def settled(format_name: str, settings: Mapping[str, Any]) -> dict[str, bool | int | float | str]:
    """Convert a format's settings to their types; parse those given as text.

    Raises:
        InvalidSettings: the format or a setting is unknown, or a value is not valid.
    """
    if format_name not in FORMATS:
        raise game_settings.unknown_name("format", format_name, FORMATS)
    known = settings_of(format_name)
    for name in settings:
        if name not in known:
            raise game_settings.unknown_name(f"setting of {format_name}", name, known)
    return {name: _setting(name, value, known[name]) for name, value in settings.items()}


def _setting(name: str, value: Any, kind: type) -> bool | int | float | str:
    if not isinstance(value, str) or kind is str:
        return value  # type: ignore[no-any-return]  # the format checks it
    parsers: dict[type, Callable[[str], bool | int | float]] = {
        bool: lambda text: {"true": True, "false": False}[text],
        int: int,
        float: float,
    }
    try:
        return parsers[kind](value)
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InvalidSettings(f'"{name}" must be {expected}, not {value!r}.') from None


def pairs(texts: Sequence[str], what: str) -> dict[str, str]:
    """Return the values in texts such as "rounds=5" by their names.

    Raises:
        InvalidSettings: a text has no equals sign, or one name has two values.
    """
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidSettings(f"{what} {name} needs a value; write {name}=VALUE.")
        if settings.setdefault(name, value) != value:
            raise InvalidSettings(
                f"{what} {name} is given twice, as {settings[name]} and {value}; give it once.",
                code="option-twice",
            )
    return settings


def opening(plan: TournamentPlan, entries: Sequence[FormatEntrant]) -> tuple[Fixture, ...]:
    """Return the first matches of a tournament.

    Raises:
        InvalidSettings: these entrants cannot play its format.
    """
    try:
        return scheduler.opening(plan, entries)
    except ValueError as error:
        raise InvalidSettings(f"{error}.", code=getattr(error, "code", "")) from None


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """The schedule of a tournament that has not been created.

    Attributes:
        plan: its settings.
        entrants: its entrants.
        first: the first matches.
        matches: the estimated number of all matches; None if it cannot be estimated.
        seconds: the estimated duration; None if it cannot be estimated.
        measured: number of closed matches of this form from which the duration is estimated; 0:
            from the house bots.
        sprt: the expected length of a sequential test; None for other formats.
    """

    plan: TournamentPlan
    entrants: tuple[FormatEntrant, ...]
    first: tuple[Fixture, ...]
    matches: int | None
    seconds: float | None
    measured: int
    sprt: time_estimate.SprtForecast | None = None

    @property
    def games(self) -> int | None:
        """The estimated number of games; None if it cannot be estimated."""
        return None if self.matches is None else time_estimate.games(self.plan, self.matches)

    def to_json(self) -> dict[str, Any]:
        """Return the preview as JSON values."""
        return {
            **json_values.plan(self.plan),
            "entrants": [{"bot": entry.name, "owner": entry.owner} for entry in self.entrants],
            "schedule": [
                {"round": f.round, "number": f.number, "entrants": list(f.entrants), "why": f.why}
                for f in self.first
            ],
            "matches": self.matches,
            "games": self.games,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "pace_from_matches": self.measured,
            "sprt": self.sprt.to_json() if self.sprt else None,
        }


def preview(
    engine: Engine | None, plan: TournamentPlan, entrants: Sequence[FormatEntrant], at_once: int
) -> SchedulePreview:
    """Return the schedule and the estimated duration of a tournament. Stores nothing.

    Args:
        engine: the store, whose matches give the pace; None: the pace of the house bots.
        plan: the settings.
        entrants: the entrants in order of their seeds.
        at_once: the number of matches played at the same time.

    Raises:
        InvalidSettings: these entrants cannot play the format.
    """
    first = opening(plan, entrants)
    total = time_estimate.matches(plan, entrants)
    pace, measured = time_estimate.seconds_per_game(engine, plan)
    seconds = None if total is None else time_estimate.games(plan, total) * pace / at_once
    forecast = time_estimate.sprt_forecast(engine, plan, entrants)
    return SchedulePreview(plan, tuple(entrants), first, total, seconds, measured, forecast)


def check_open(tournament: Tournament) -> None:
    """Check that bots can join a tournament after its start.

    Raises:
        InvalidSettings: its format does not accept later entrants.
    """
    if tournament.plan.format in CLOSED_FORMATS:
        raise InvalidSettings(
            f"{tournament.id} is a {tournament.plan.format}, which does not accept later entrants.",
            code="closed-format",
        )


def begin(
    engine: Engine,
    plan: TournamentPlan,
    entrants: Sequence[FormatEntrant],
    seed: bytes | None = None,
    *,
    paused: bool = False,
) -> Tournament:
    """Create a tournament.

    Args:
        engine: the store.
        plan: the settings.
        entrants: the entrants in order of their seeds.
        seed: the random seed of all deals; None for a random seed for each match.
        paused: start no match until the tournament is resumed.

    Raises:
        InvalidSettings: these entrants cannot play the format.
        StoreError: as `tournaments.create` raises it, including its subclasses.
    """
    first = opening(plan, entrants)
    return tournaments.create(engine, plan, entrants, first, seed, paused=paused)

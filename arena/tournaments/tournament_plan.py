"""Preview the schedule of a requested tournament, and create it.

The command line and the organiser's pages and API use the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.errors import InvalidSettings
from arena.formats.contract import Fixture, FormatEntrant
from arena.formats.registry import CLOSED as CLOSED_FORMATS
from arena.store.match_settings import TournamentPlan
from arena.store.tournaments import tournaments
from arena.tournaments import scheduler, time_estimate

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


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
            **self.plan.to_json(),
            "form": self.plan.form,
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

"""The key of a ladder: the tournaments that are ranked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from arena.formats.contract import UNRATED
from arena.ratings.strength.settings import StrengthSettings, anchor_name, with_anchors
from arena.store.match_settings import ClockClass, ladder_name, names_of_ladder
from arena.store.tournaments import tournaments
from referee.presentation.registry import presentation_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


ANCHORS: Final = "anchors"
"""The setting of the format `ladder` with anchors of strength."""


@dataclass(frozen=True, slots=True)
class LadderKey:
    """Some tournaments of one form (`referee.games.registry`) and clock class.

    Attributes:
        id: the key of its rows: the id of a tournament, or the name of the ladder and the number of
            the season. Empty: it has no rows.
        sides: maximum number of entrants of a match.
        entrants: entrants that are listed even before their first match.
        season: number of the season, from 1.
        archived: whether a later season has begun.
        anchors: the anchors of strength that the ladders set, as in `with_anchors`.
    """

    form: str
    game: str
    sides: int
    tournaments: tuple[str, ...]
    entrants: tuple[str, ...] = ()
    season: int = 1
    archived: bool = False
    anchors: tuple[str, ...] = ()
    id: str = ""
    clock_class: ClockClass = ClockClass.FAST

    @property
    def name(self) -> str:
        """The name of the ladder, which is its address on the pages and in commands."""
        return ladder_name(self.form, self.clock_class)

    @property
    def has_history(self) -> bool:
        """Whether it is a ladder, whose history is kept, and not one tournament."""
        return bool(self.id) and self.id not in self.tournaments

    @property
    def label(self) -> str:
        """The name, with the number of the season if it is archived."""
        return f"{self.name}, season {self.season}" if self.archived else self.name

    @property
    def strength(self) -> StrengthSettings:
        """The settings of strength, with the anchors.

        A later ladder replaces the anchor of an earlier one for the same entrant.
        """
        by_name = {anchor_name(text): text for text in self.anchors}
        return with_anchors(by_name.values())

    @property
    def clip(self) -> int:
        """The limit of margins for points per board."""
        return presentation_of(self.game).clip


def of_tournament(tournament: Tournament) -> LadderKey:
    """Return the scope of one tournament."""
    plan = tournament.plan
    return LadderKey(
        plan.form,
        plan.game,
        plan.seats,
        (tournament.id,),
        tournament.entrants,
        anchors=anchors_of(plan.settings),
        id=tournament.id,
        clock_class=plan.clock.clock_class,
    )


def of_standings(engine: Engine, tournament: Tournament) -> LadderKey:
    """Return the ladder whose rows are the standings of a tournament.

    The matches of an open ladder count for the season of its form, so that is its only ranking.
    """
    if tournament.plan.settings.get("open") is True:
        for key in of_seasons(engine, tournament.plan.ladder):
            if tournament.id in key.tournaments:
                return key
    return of_tournament(tournament)


def anchors_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the anchors of strength in the settings of a tournament's format."""
    return tuple(filter(None, str(settings.get(ANCHORS, "")).split(",")))


def of_forms(engine: Engine, name: str | None = None) -> list[LadderKey]:
    """Return the current season of each ladder that tournaments have played, sorted by form.

    Args:
        name: only this ladder or form, or all forms of the game with this id.
    """
    return [scope for scope in of_seasons(engine, name) if not scope.archived]


def of_seasons(engine: Engine, name: str | None = None) -> list[LadderKey]:
    """Return the scopes of all seasons of all forms and clock classes, sorted by name and season.

    A ladder with the setting `season` begins a season: the tournaments of its form and clock class
    that are created before the next such ladder belong to it.

    Args:
        name: only this ladder or form, or all forms of the game with this id.
    """
    held: dict[str, list[LadderKey]] = {}
    for tournament in tournaments.list_tournaments(engine):
        plan = tournament.plan
        names = names_of_ladder(plan.form, plan.clock.clock_class)
        if plan.format in UNRATED or name not in (None, plan.game, *names):
            continue
        seasons = held.setdefault(plan.ladder, [])
        scope = replace(of_tournament(tournament), entrants=())
        if plan.settings.get("season"):
            # Its first entrants are listed at once, so that the new ladder is not empty.
            first = tuple(entry.name for entry in tournament.entries if not entry.joined)
            seasons[:] = [replace(earlier, archived=True) for earlier in seasons]
            # Several ladders may name the same number.
            number = max([int(plan.settings["season"]), *(each.season + 1 for each in seasons)])
            seasons.append(
                replace(scope, entrants=first, season=number, id=_season_id(plan.ladder, number))
            )
        elif seasons:
            so_far = seasons[-1].tournaments
            anchors = seasons[-1].anchors + scope.anchors
            seasons[-1] = replace(
                seasons[-1], tournaments=so_far + scope.tournaments, anchors=anchors
            )
        else:
            seasons.append(replace(scope, id=_season_id(plan.ladder, 1)))
    return [scope for ladder in sorted(held) for scope in held[ladder]]


def _season_id(ladder: str, number: int) -> str:
    return f"{ladder}/{number}"

"""The key of a ladder: the tournaments that are ranked together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena.formats.contract import UNRATED
from arena.presentation.registry import presentation_of
from arena.store.tournaments import tournaments

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


@dataclass(frozen=True, slots=True)
class LadderKey:
    """Some tournaments of one form (`referee.games.registry`).

    Attributes:
        form: the form.
        game: id of the game.
        sides: maximum number of entrants of a match.
        tournaments: ids of the tournaments.
        entrants: entrants that are listed even before their first match.
    """

    form: str
    game: str
    sides: int
    tournaments: tuple[str, ...]
    entrants: tuple[str, ...] = ()

    @property
    def clip(self) -> int:
        """The limit of margins for points per board."""
        return presentation_of(self.game).clip


def of_tournament(tournament: Tournament) -> LadderKey:
    """Return the scope of one tournament."""
    plan = tournament.plan
    return LadderKey(plan.form, plan.game, plan.seats, (tournament.id,), tournament.entrants)


def of_forms(engine: Engine, name: str | None = None) -> list[LadderKey]:
    """Return the scopes of all forms that tournaments have played, sorted by form.

    Args:
        engine: the store.
        name: only this form, or all forms of the game with this id.
    """
    held: dict[str, LadderKey] = {}
    for tournament in tournaments.listing(engine):
        if tournament.plan.format in UNRATED:
            continue
        if name in (None, tournament.plan.game, tournament.plan.form):
            scope = replace(of_tournament(tournament), entrants=())
            so_far = held[scope.form].tournaments if scope.form in held else ()
            held[scope.form] = replace(scope, tournaments=so_far + scope.tournaments)
    return [held[form] for form in sorted(held)]

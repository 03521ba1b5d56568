"""Ladders made anew from records, for `pokearena ladder`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.ladders.key import Scope

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.standings import Table


@dataclass(frozen=True, slots=True)
class Anew:
    """A ladder from the records alone.

    differences: what is stored otherwise, in words. unread: whether some record cannot be read.
    """

    scope: Scope
    table: Table
    matches: int
    games: int
    differences: tuple[str, ...]
    missing: int
    """Matches that had not been summed up when they were stored."""
    unread: bool

    def to_json(self) -> dict[str, Any]:
        """What was found, as plain values."""
        return {
            "matches": self.matches,
            "games": self.games,
            "differences": list(self.differences),
            "not_summed_up": self.missing,
        }


def rebuild(engine: Engine, scope: Scope, *, write: bool) -> Anew:
    """The ladder of what is ranked together, from the records of its closed matches.

    write: whether results that are stored otherwise are put right.
    """
    from arena.ratings.standings import Fold
    from arena.records import rebuilt_results

    fold = Fold(scope.clip)
    anew = Anew(scope, fold.table(scope.entrants), 0, 0, (), 0, False)
    for match in rebuilt_results.rebuilt(engine, scope.tournaments):
        if match.digest is not None:
            fold.add(match.digest, match.thinking)
        anew = replace(
            anew,
            matches=anew.matches + 1,
            games=anew.games + match.games,
            differences=anew.differences + match.differences,
            missing=anew.missing + match.missing,
            unread=anew.unread or match.digest is None,
        )
        if write and (match.differences or match.missing):
            rebuilt_results.store(engine, match)
    return replace(anew, table=fold.table(scope.entrants))


def verify(engine: Engine, scope: Scope) -> Anew:
    """The same without changing anything; the stored ladder is compared as well, to every digit."""
    from arena.ladders import folds

    anew = rebuild(engine, scope, write=False)
    if anew.differences:
        return anew
    stored = folds.fold(engine, scope.tournaments, scope.clip).table(scope.entrants)
    if stored != anew.table:
        said = f"the ladder of {scope.form} is not the one that follows from the records"
        return replace(anew, differences=(said,))
    return anew

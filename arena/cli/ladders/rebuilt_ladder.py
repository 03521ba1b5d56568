"""Recompute ladders from records, for `pokearena ladder`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.ladders.ladder_key import LadderKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.standings import Standings


@dataclass(frozen=True, slots=True)
class RebuiltLadder:
    """A ladder computed only from the records.

    Attributes:
        scope: the ladder's key.
        table: its standings.
        matches: number of closed matches.
        games: number of their stored games.
        differences: a clause for each stored value that differs.
        missing: number of matches whose summary had not been stored.
        unread: whether a record cannot be read.
    """

    scope: LadderKey
    table: Standings
    matches: int
    games: int
    differences: tuple[str, ...]
    missing: int
    unread: bool

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return {
            "matches": self.matches,
            "games": self.games,
            "differences": list(self.differences),
            "not_summed_up": self.missing,
        }


def rebuild(engine: Engine, scope: LadderKey, *, write: bool) -> RebuiltLadder:
    """Compute a ladder from the records of its closed matches.

    Args:
        engine: database engine of the store.
        scope: the ladder's key.
        write: whether to correct stored results that differ, and to delete the stored
            sums and the stored luck, which are then computed again.
    """
    from arena.ratings.standings import StandingsSums
    from arena.records import rebuilt_results
    from arena.store.idle_results import LUCK
    from arena.store.tournaments import ladder_folds, ladder_history

    fold = StandingsSums(scope.clip)
    anew = RebuiltLadder(scope, fold.table(scope.entrants, scope.strength), 0, 0, (), 0, False)
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
    if write:
        ladder_history.delete_summaries(engine, scope.tournaments)
        ladder_folds.delete_folds(engine, scope.tournaments)
        LUCK.remove_of_tournaments(engine, scope.tournaments)
    return replace(anew, table=fold.table(scope.entrants, scope.strength))


def verify(engine: Engine, scope: LadderKey) -> RebuiltLadder:
    """Compare stored results and the stored ladder with the records; change nothing.

    Matches may close meanwhile. The ladder is therefore read before and after the records, and all
    are read again if they differ only because it has changed.
    """
    while True:
        before = _stored(engine, scope)
        anew = rebuild(engine, scope, write=False)
        after = _stored(engine, scope)
        if anew.differences or anew.table in (before, after):
            return anew
        if before == after:
            sentence = f"the ladder of {scope.form} does not follow from the records"
            return replace(anew, differences=(sentence,))


def _stored(engine: Engine, scope: LadderKey) -> Standings:
    from arena.ladders import ladder_sums

    return ladder_sums.sum_up(engine, scope.tournaments, scope.clip).table(
        scope.entrants, scope.strength
    )

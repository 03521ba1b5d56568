"""Recompute results from records, and ladders from results, for `pokearena ladder`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.ladders.ladder_key import LadderKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.standings import Standings


@dataclass(frozen=True, slots=True)
class RebuiltLadder:
    """A ladder whose results were compared with the records."""

    scope: LadderKey
    matches: int = 0
    """Number of closed matches."""
    games: int = 0
    differences: tuple[str, ...] = ()
    """A clause for each stored value that differs."""
    missing: int = 0
    """Number of matches whose decision times had not been stored."""
    unread: bool = False
    """Whether a record cannot be read."""

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return {
            "matches": self.matches,
            "games": self.games,
            "differences": list(self.differences),
            "not_summed_up": self.missing,
        }


def rebuild(engine: Engine, scope: LadderKey) -> tuple[RebuiltLadder, Standings]:
    """Correct results that differ from their records, compute the ladder again, and return it.

    The stored luck of the matches is deleted; idle workers measure it again.
    """
    from arena.ladders import rater
    from arena.store.idle_results import LUCK

    anew = _compared(engine, scope, write=True)
    LUCK.remove_of_tournaments(engine, scope.tournaments)
    rater.rebuild(engine, scope)
    return anew, rater.current_ladder(engine, scope).table


def verify(engine: Engine, scope: LadderKey) -> RebuiltLadder:
    """Compare stored results with the records, and the ladder with the results; change nothing.

    Matches may close meanwhile. The ladder is therefore read before and after, and all are read
    again if it has changed.
    """
    anew = _compared(engine, scope, write=False)
    while not anew.differences:
        before = _stored(engine, scope)
        computed = _from_results(engine, scope)
        if not any(_differs(computed, table) for table in before):
            break
        if before == _stored(engine, scope):
            sentence = f"the ladder of {scope.name} does not follow from the records"
            return replace(anew, differences=(sentence,))
    return anew


def _stored(engine: Engine, scope: LadderKey) -> list[Standings]:
    """Return the rows of a ladder, and what its sums give."""
    from arena.ladders import rater

    return [
        rater.current_ladder(engine, scope).table,
        rater.fitted_ladder(engine, scope).table,
    ]


def _compared(engine: Engine, scope: LadderKey, *, write: bool) -> RebuiltLadder:
    from arena.records import rebuilt_results

    anew = RebuiltLadder(scope)
    for match in rebuilt_results.rebuilt(engine, scope.tournaments):
        anew = replace(
            anew,
            matches=anew.matches + 1,
            games=anew.games + match.games,
            differences=anew.differences + match.differences,
            missing=anew.missing + match.missing,
            unread=anew.unread or not match.is_readable,
        )
        if write and (match.differences or match.missing):
            rebuilt_results.store_rebuilt(engine, match)
    return anew


def _from_results(engine: Engine, scope: LadderKey) -> Standings:
    from arena.ratings import standings
    from arena.store.matches import results

    played = results.closed(engine, scope.tournaments)
    return standings.of_matches(played, scope.clip, scope.entrants, scope.strength).table


_ELO_TOLERANCE = 1e-9
"""Elo is continued round by round, and computed again here in another order of additions."""


def _differs(computed: Standings, stored: Standings) -> bool:
    same = replace(computed, lines=()) == replace(stored, lines=()) and len(computed.lines) == len(
        stored.lines
    )
    return not same or any(
        replace(new, elo=0.0) != replace(old, elo=0.0) or abs(new.elo - old.elo) > _ELO_TOLERANCE
        for new, old in zip(computed.lines, stored.lines, strict=True)
    )

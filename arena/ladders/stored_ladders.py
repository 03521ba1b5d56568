"""Store the sums and standings of ladders from time to time, and read them after a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena.ladders.ladder_sums import LadderSums
from arena.store.tournaments import ladder_folds
from arena.store.tournaments.ladder_folds import StoredFold

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.standings import Standings

MIN_NEW_MATCHES: Final = 5_000
"""A ladder is stored after at least this many new matches, and ..."""
SHARE: Final = 0.01
"""... after this share of all its matches. A ladder of ten million matches has 200 MB."""


@dataclass(frozen=True, slots=True)
class StoredLadder:
    """A ladder as it was when it was stored.

    Attributes:
        sums: its sums, to which `LadderSums.now` adds what has closed since.
        table: its standings; None if the settings of the ladder have changed.
    """

    sums: LadderSums
    table: Standings | None


def find(engine: Engine, scope: LadderKey) -> StoredLadder | None:
    """Return the stored ladder; None if it does not exist or does not hold any more."""
    fold = ladder_folds.find(engine, scope.tournaments[0])
    if fold is None:
        return None
    # Imported here, because it loads numpy.
    from arena.ratings import stored_standings

    stored = stored_standings.read(fold.data)
    if stored is None:
        return None
    facts, of = stored.position["facts"], stored.position["tournaments"]
    if of != list(scope.tournaments[: len(of)]) or stored.table.clip != scope.clip:
        return None
    sums = LadderSums.restored(engine, of, stored.position, stored.sums, scope.clip)
    return StoredLadder(sums, stored.table if facts == _facts(scope) else None)


def begin(engine: Engine, scope: LadderKey) -> StoredLadder:
    """Return the stored ladder, or one without any match, which `LadderSums.now` then reads."""
    stored = find(engine, scope)
    return stored or StoredLadder(LadderSums(engine, scope.tournaments, scope.clip), None)


def store(
    engine: Engine,
    scope: LadderKey,
    sums: LadderSums,
    table: Standings,
    before: int,
    fewest: int | None = None,
) -> int:
    """Store a ladder if it has many more matches than the stored one.

    Args:
        engine: the store.
        scope: the ladder's key.
        sums: its sums.
        table: the standings computed from them.
        before: number of matches of the stored ladder; 0 without one.
        fewest: number of new matches from which it is stored; `MIN_NEW_MATCHES` by default.

    Returns:
        The number of matches of the stored ladder.
    """
    fewest = MIN_NEW_MATCHES if fewest is None else fewest
    if sums.folded - before < max(fewest, SHARE * sums.folded):
        return before
    from arena.ratings import stored_standings

    position = {**sums.position, "tournaments": sums.tournaments, "facts": _facts(scope)}
    data = stored_standings.stored(position, sums.fold, table)
    fold = StoredFold(position["matches"], position["corrections"], data)
    ladder_folds.store(engine, scope.tournaments[0], fold)
    return fold.matches


def _facts(scope: LadderKey) -> list[Any]:
    """Return everything besides the matches that the standings depend on."""
    return [list(scope.entrants), list(scope.anchors)]

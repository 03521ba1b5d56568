"""Lease and play matches in a store, as workers do."""

from typing import Any

from sqlalchemy import Engine

from arena.store.matches import match_leases
from arena.store.matches.match_leases import Lease
from tests.arena.store.store_contender import played_game


def leased(store: Engine, match: str | None = None, owner: str = "worker") -> Lease:
    """Lease a match, by default the next one that is due."""
    lease = match_leases.lease(store, match or match_leases.due(store)[0], owner)
    assert lease is not None
    return lease


def commit(store: Engine, lease: Lease, number: int, **game: Any) -> bool:
    """Commit a game with given places or a fault; return whether it closed the match."""
    return match_leases.commit_game(store, lease, played_game(lease.spec, number, **game))


def play(store: Engine, match: str | None = None, games: int | None = None, **game: Any) -> Lease:
    lease = leased(store, match)
    for number in range(lease.spec.games if games is None else games):
        commit(store, lease, number, **game)
    return lease

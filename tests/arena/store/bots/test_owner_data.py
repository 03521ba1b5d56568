"""Deleting the data of an owner from the store: each step can be repeated."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import NotFound
from arena.store.bots import owner_data, owners, stored_builds, versions
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play


def test_everything_but_the_results_is_deleted(
    store: Engine, schedule: Callable[..., Tournament]
) -> None:
    tournament = schedule(bots=3)
    owners.add_owner(store, "ada")
    versions.set_owner(store, versions.find_version(store, "bot1@1"), "ada")
    lease = play(store)
    assert "bot1@1" in lease.spec.versions
    data = owner_data.survey(store, "ada")
    assert (data.tokens, data.versions, data.matches) == (1, ("bot1@1",), 2)
    assert data.contents == (f"{1:064x}",)
    for _ in range(2):
        owner_data.withdraw(store, "ada")
    progress = tournaments.progress(store, tournament.id)
    assert (progress.closed, progress.cancelled, progress.pending) == (1, 1, 1)
    assert owner_data.running(store, "ada") == (0, 0)
    for match in owner_data.matches(store, "ada"):
        for _ in range(2):
            owner_data.redact(store, match, data.versions, lambda text: text.replace("7", "7"))
    pseudonym = owner_data.forget(store, data)
    assert versions.find_version(store, "bot1@1").owner == pseudonym
    assert stored_builds.find_build(store, f"{1:064x}") is None
    closed = listing.matches(store, tournament=tournament.id, states=(MatchState.CLOSED,))
    assert [match.id for match in closed] == [lease.spec.id]
    with pytest.raises(NotFound):
        owner_data.survey(store, "ada")

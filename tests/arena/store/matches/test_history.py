"""The latest matches of a bot, newest first."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.store.matches import history, match_leases
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play
from tests.arena.store.query_plans import query_plans

Schedule = Callable[..., Tournament]


@pytest.fixture
def tournament(store: Engine, schedule: Schedule) -> Tournament:
    """Return a round robin of three entrants, with all matches closed but one."""
    tournament = schedule(3)
    for match in match_leases.due(store)[:-1]:
        play(store, match)
    return tournament


def test_closed_matches_of_a_bot_are_listed_newest_first(
    store: Engine, tournament: Tournament
) -> None:
    by_name = {
        name: history.matches(store, [(name,)]) for name in ("bot0@1", "bot1@1", "bot2@1", "bot9@1")
    }
    assert sum(map(len, by_name.values())) == 4
    assert by_name["bot9@1"] == ()
    for name, matches in by_name.items():
        assert history.count(store, [(name,)]) == len(matches)
        assert all(name in match.entrants for match in matches)
        times = [match.closed for match in matches]
        assert times == sorted(times, reverse=True)


def test_a_match_of_two_versions_of_a_bot_is_listed_once(
    store: Engine, tournament: Tournament
) -> None:
    every = ("bot0@1", "bot1@1", "bot2@1")
    matches = history.matches(store, [every])
    assert len(matches) == len({match.match for match in matches}) == 2
    assert history.count(store, [every]) == 2
    assert [each.match for each in history.matches(store, [every], offset=1)] == [matches[1].match]


def test_matches_can_be_filtered_by_opponent_and_tournament(
    store: Engine, tournament: Tournament
) -> None:
    first, second = (
        match.entrants for match in history.matches(store, [("bot0@1", "bot1@1", "bot2@1")])
    )
    both = [(name,) for name in first]
    assert [match.entrants for match in history.matches(store, both)] == [first]
    assert history.count(store, both, [tournament.id]) == 1
    assert history.count(store, both, ["t-none"]) == 0
    assert history.matches(store, [second], ["t-none"]) == ()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_the_newest_matches_are_found_by_an_index(store: Engine) -> None:
    plans = query_plans(store, lambda: history.matches(store, [("bot0@1",)]), "FROM results")
    ((_, plan),) = plans
    read = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
    assert "USING INDEX ix_match_entrants_version_closed (version=? AND closed>?)" in read[0]
    assert not [step for step in read if step.startswith("SCAN") and "anon" not in step]

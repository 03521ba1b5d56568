"""The matches of a tournament that its format receives, whatever was read before."""

from collections.abc import Callable

from sqlalchemy import Engine

from arena.formats.contract import MatchStatus
from arena.store.bots import versions
from arena.store.matches import listing, match_leases
from arena.store.tournaments.format_history import FormatHistory
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.store.matches.test_closed_matches import close

Schedule = Callable[..., Tournament]


def test_a_match_added_to_a_finished_round_is_read(store: Engine) -> None:
    """A series of a knockout may need one more match after the next stage has begun."""
    for bot in range(5):
        versions.add_version(store, f"bot{bot}", "1", f"{bot:064x}", f"/bots/{bot}", {"run": ["x"]})
    plan = poke_plan(format="knockout", settings={"best_of": 1})
    tournament = scheduler.begin(store, plan, [f"bot{bot}@1" for bot in range(5)])
    history, asking = FormatHistory(store, tournament.id), Scheduler(store)
    assert [match.place for match in history.matches()] == [(0, 6), (1, 6)]
    # A void match is replaced.
    match_leases.void(store, match_leases.due(store)[0], "because")
    assert len(history.matches()) == 2
    for expected in (1, 0):
        assert asking.advance() == expected
    places = [
        (match.round, match.number) for match in listing.matches(store, tournament=tournament.id)
    ]
    assert places == [match.place for match in history.matches()] == [(0, 6), (0, 7), (1, 6)]


def test_a_round_robin_takes_the_same_step_without_results(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(bots=3, cycles=2)
    rules = scheduler.format_of(tournament.plan)
    full = FormatHistory(store, tournament.id)
    bare = FormatHistory(store, tournament.id, with_results=rules.reads_results)
    for match in (None, *match_leases.due(store)):
        if match is not None:
            close(store, match)
        steps = [rules.next(tournament.entries, each.matches()) for each in (full, bare)]
        assert steps[0] == steps[1]
    assert {match.state for match in bare.matches()} == {MatchStatus.ENDED}
    assert not any(match.games for match in bare.matches())

"""Void and replayed matches: which can be replayed, and how formats and counts treat them."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import Conflict, NotFound
from arena.formats.contract import MatchStatus
from arena.store import consistency
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.matches import corrections, listing, match_leases, results
from arena.store.schema import MatchState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.format_history import FormatHistory
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from tests.arena.cli.stored_tournament import play_match
from tests.arena.poke_plan import poke_plan
from tests.arena.store.played_matches import play
from tests.errors import has_code

Schedule = Callable[..., Tournament]


def replay(store: Engine, match: str) -> str:
    return corrections.replay(store, match, COMMAND_LINE, "a power cut")


def refused(store: Engine, match: str, code: str) -> None:
    with pytest.raises(Conflict, check=has_code(code)):
        replay(store, match)


def test_formats_see_the_latest_replay_of_a_match(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(3)
    history = FormatHistory(store, tournament.id)
    first, *others = match_leases.due(store)
    for match in (first, *others):
        play(store, match)
    places = [match.place for match in history.matches()]
    second = replay(store, first)
    refused(store, second, "not-played")
    match_leases.lease(store, second, "worker")
    third = replay(store, second)
    refused(store, first, "replayed")
    seen = history.matches()
    assert [match.place for match in seen] == places
    assert [match.state for match in seen].count(MatchStatus.OPEN) == 1
    stored = listing.replays(store, listing.find_match(store, third))
    assert [(match.id, match.replay) for match in stored] == [(first, 0), (second, 1), (third, 2)]
    assert len({match.commitment for match in stored}) == 3
    assert results.cover(store, first).seed is not None
    assert results.cover(store, second).seed is None
    play(store, third)
    Scheduler(store).advance()
    progress = tournaments.progress(store, tournament.id)
    assert (progress.closed, progress.void, progress.matches) == (3, 2, 5)
    assert list(consistency.problems(store, lambda *_: None)) == []
    refused(store, third, "tournament-over")
    with pytest.raises(NotFound):
        replay(store, "m-0000000000")


def test_a_match_of_a_withdrawn_bot_is_not_replayed(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(3)
    first, *_ = match_leases.due(store)
    play(store, first)
    entrants = listing.find_match(store, first).entrants
    lifecycle.withdraw(store, tournament.id, entrants[0])
    refused(store, first, "withdrawn")
    assert listing.find_match(store, first).state is MatchState.CLOSED


def test_a_knockout_replays_only_its_newest_round(store: Engine) -> None:
    tournament = begin(store, "knockout")
    first, second = match_leases.due(store)
    play_match(store, first)
    again = replay(store, first)
    for match in (again, second):
        play_match(store, match)
    Scheduler(store).advance()
    refused(store, again, "later-rounds")
    assert tournaments.progress(store, tournament.id).open == 1


def forfeit(store: Engine, match: str, loser: str) -> None:
    corrections.forfeit(store, match, loser, COMMAND_LINE, "it is offline")


def not_forfeited(store: Engine, match: str, loser: str, code: str) -> None:
    with pytest.raises(Conflict, check=has_code(code)):
        forfeit(store, match, loser)


@pytest.mark.parametrize("format_name", ["knockout", "swiss"])
def test_a_forfeit_lets_the_next_round_begin_and_counts_as_lost(
    store: Engine, format_name: str
) -> None:
    """The better seed, which would win by its seed, forfeits the only open match of a round."""
    tournament = begin(store, format_name)
    first, second = listing.matches(store, tournament=tournament.id)
    play_match(store, first.id)
    advancing = Scheduler(store)
    assert advancing.advance() == 0
    loser, winner = second.entrants
    not_forfeited(store, second.id, first.entrants[0], "no-entrant")
    forfeit(store, second.id, loser)
    not_forfeited(store, second.id, loser, "match-over")
    decided = listing.find_match(store, second.id)
    assert (decided.state, decided.forfeited_by) == (MatchState.VOID, loser)
    assert advancing.advance() > 0
    paired = [match.entrants for match in listing.matches(store, tournament=tournament.id)[2:]]
    if format_name == "knockout":
        assert winner in paired[0]
        assert loser not in paired[0]
    else:
        not_forfeited(store, first.id, first.entrants[0], "later-rounds")
        history = FormatHistory(store, tournament.id).matches()
        assert history[1].points == (0, 2)
    assert not list(results.closed(store, of=[tournament.id], with_all=[loser]))


def test_a_match_of_a_ladder_is_not_forfeited(store: Engine) -> None:
    tournament = begin(store, "ladder")
    match = listing.matches(store, tournament=tournament.id)[0]
    not_forfeited(store, match.id, match.entrants[0], "rated-format")
    assert listing.find_match(store, match.id).state is MatchState.PENDING


def begin(store: Engine, format_name: str) -> Tournament:
    for bot in range(4):
        versions.add_version(store, f"bot{bot}", "1", f"{bot:064x}", f"/bots/{bot}", {"run": ["x"]})
    settings = {"knockout": {"best_of": 1}, "swiss": {"rounds": 2}, "ladder": {}}
    plan = poke_plan(format=format_name, settings=settings[format_name])
    return scheduler.begin(store, plan, [f"bot{bot}@1" for bot in range(4)])

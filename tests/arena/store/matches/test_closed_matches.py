"""Test that closed matches are read from their games."""

import json
from collections.abc import Callable

from sqlalchemy import Engine, update

from arena.ratings.closed_match import PlayedGame
from arena.store import database, schema
from arena.store.matches import closed_matches, match_leases, results
from arena.store.matches.games import read
from arena.store.matches.spec import MatchSpec
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import leased
from tests.arena.store.store_contender import played_game

Schedule = Callable[..., Tournament]


def timed(spec: MatchSpec, number: int) -> PlayedGame:
    """Return a game in which seat s took s + 1 milliseconds; the referee played once for seat 0."""
    lines = [json.loads(line) for line in played_game(spec, number).record.splitlines()]
    game, action, *rest = lines
    moves = [action | {"seat": seat, "ms": seat + 1.0} for seat in (0, 1)]
    moves.append(action | {"seat": 0, "ms": 500.0, "by": "referee"})
    text = "".join(json.dumps(line) + "\n" for line in (game, *moves, *rest))
    return read(text, spec.versions)


def close(store: Engine, match: str) -> None:
    lease = leased(store, match)
    for number in range(lease.spec.games):
        match_leases.commit_game(store, lease, timed(lease.spec, number))


def read_one(store: Engine, match: str) -> closed_matches.PlayedMatch:
    with database.reading(store) as connection:
        return closed_matches.with_ids(connection, [match])[match]


def test_decision_times_contain_only_bot_decisions(store: Engine, schedule: Schedule) -> None:
    schedule(bots=2, boards=3)
    (match,) = match_leases.due(store)
    close(store, match)
    stored = read_one(store, match)
    # Six games: each bot sat three times on either seat, and took a millisecond or two.
    assert [times.decisions for times in stored.thinking] == [6, 6]
    assert stored.result == results.of_match(store, match)
    assert [game.game for game in stored.games] == list(range(6))


def test_a_match_whose_decision_times_were_not_counted_has_none(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    (match,) = match_leases.due(store)
    close(store, match)
    with database.writing(store) as connection:
        one = schema.games.c.game == 1
        connection.execute(update(schema.games).where(one).values(thinking=None))
    assert read_one(store, match).thinking == ()


def test_closed_matches_are_read_in_the_order_of_the_schedule(
    store: Engine, schedule: Schedule
) -> None:
    first, second = schedule(bots=3), schedule(bots=3)
    for match in reversed(match_leases.due(store)):
        close(store, match)
    places = [(m.tournament, m.round, m.number) for m in results.closed(store)]
    assert places == sorted(places)
    assert {place[0] for place in places} == {0, 1}
    of_second = list(results.closed(store, [second.id]))
    assert [match.tournament for match in of_second] == [0, 0, 0]
    assert len(list(results.closed(store, [first.id], ("bot0@1", "bot1@1")))) == 1
    assert len(list(results.closed(store, limit=4))) == 4

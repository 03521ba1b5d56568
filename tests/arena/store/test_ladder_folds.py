"""Ladder sums: the digest stored when a match closes, and incremental sums."""

import json
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, event, update

from arena.ladders.ladder_sums import LadderSums, digests, meetings, sum_up
from arena.presentation.registry import presentation_of
from arena.ratings.match_digest import digest
from arena.ratings.meetings import Meetings
from arena.store import database, schema
from arena.store.matches import results, transitions
from arena.store.matches.games import PlayedGame, read
from arena.store.matches.spec import MatchSpec
from arena.store.tournaments.tournaments import Tournament

CLIP = presentation_of("poke").clip
Schedule = Callable[..., Tournament]
Played = Callable[..., PlayedGame]


def timed(spec: MatchSpec, number: int, played: Played) -> PlayedGame:
    """Return a game in which seat s took s + 1 milliseconds; the referee played once for seat 0."""
    lines = [json.loads(line) for line in played(spec, number).record.splitlines()]
    game, action, *rest = lines
    moves = [action | {"seat": seat, "ms": seat + 1.0} for seat in (0, 1)]
    moves.append(action | {"seat": 0, "ms": 500.0, "by": "referee"})
    text = "".join(json.dumps(line) + "\n" for line in (game, *moves, *rest))
    return read(text, spec.versions)


def close(store: Engine, match: str, played: Played) -> None:
    lease = transitions.lease(store, match, "w")
    assert lease is not None
    for number in range(lease.spec.games):
        transitions.commit_game(store, lease, timed(lease.spec, number, played))


def test_a_result_is_stored_with_its_digest(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    tournament = schedule(bots=4, boards=2)
    for match in transitions.due(store):
        close(store, match, played)
    closed = list(results.closed(store, [tournament.id]))
    assert list(digests(store, [tournament.id], CLIP)) == [digest(match, CLIP) for match in closed]
    assert meetings(store, [tournament.id]) == Meetings.of(closed)


def test_decision_times_contain_only_bot_decisions(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    tournament = schedule(bots=2, boards=3)
    (match,) = transitions.due(store)
    close(store, match, played)
    # Six games: each bot sat three times on either seat, and took a millisecond or two.
    thinking = sum_up(store, [tournament.id], CLIP).table().thinking
    assert {name: times.decisions for name, times in thinking.items()} == {"bot0@1": 6, "bot1@1": 6}
    assert {times.p95 for times in thinking.values()} == {2.18}


def test_results_of_older_databases_count_as_well(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    tournament = schedule(bots=3)
    for match in transitions.due(store):
        close(store, match, played)
    before = sum_up(store, [tournament.id], CLIP).table(), meetings(store, [tournament.id])
    with database.writing(store) as connection:
        connection.execute(update(schema.results).values(digest=None, thinking=None))
    assert (
        sum_up(store, [tournament.id], CLIP).table(),
        meetings(store, [tournament.id]),
    ) == before


@pytest.mark.parametrize("order", ["forth", "back"])
def test_incremental_sums_equal_the_sums_of_all_results(
    store: Engine, schedule: Schedule, played: Played, order: str
) -> None:
    tournament = schedule(bots=3, cycles=8)
    following = LadderSums(store, [tournament.id], CLIP)
    due = list(transitions.due(store))
    for match in due if order == "forth" else reversed(due):
        close(store, match, played)
        assert following.now().table() == sum_up(store, [tournament.id], CLIP).table()


def test_summed_results_are_not_read_again(
    store: Engine, schedule: Schedule, played: Played
) -> None:
    tournament = schedule(bots=3, cycles=2)
    following = LadderSums(store, [tournament.id], CLIP)
    first, second, *_ = transitions.due(store)
    close(store, first, played)
    following.now()
    with database.writing(store) as connection:
        connection.execute(update(schema.results).values(closed=schema.results.c.closed - 3600))
    close(store, second, played)
    statements: list[str] = []
    event.listen(store, "before_cursor_execute", lambda *words: statements.append(words[2]))
    assert sum(line.matches for line in following.now().table().lines) == 4
    assert any("closed >" in statement for statement in statements)
    statements.clear()
    following.now()
    assert [words for words in statements if "results" in words] == []

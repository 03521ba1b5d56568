"""Test the sequence of events that change a standing or a page."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from threading import Event

from sqlalchemy import Engine

from arena.formats.contract import FormatEntrant
from arena.store import closings, database
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.matches import corrections, match_leases
from arena.store.schema import ClosingKind
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play

Schedule = Callable[..., Tournament]


def events(store: Engine, after: int = 0) -> list[closings.Closing]:
    with database.reading(store) as connection:
        return closings.closings_after(connection, after)


def test_every_event_of_a_tournament_is_in_the_sequence(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(3).id
    begin = ["version-added"] * 3 + ["tournament-started"] + ["entered"] * 3
    assert [str(each.kind) for each in events(store)] == begin
    first, second, third = match_leases.due(store)
    play(store, first)
    assert match_leases.void(store, second, "the disk was full")
    again = corrections.replay(store, first, COMMAND_LINE, "a wrong table")
    versions.add_version(store, "late", "1", "f" * 64, "/late", {})
    lifecycle.add_entrants(store, tournament, [FormatEntrant("late@1", "")])
    play(store, third)
    play(store, again)
    gone = corrections.disqualify(store, tournament, "bot2@1", COMMAND_LINE, "it read the seed")
    assert gone
    lifecycle.cancel(store, tournament)
    assert [
        (str(each.kind), each.match, each.tournament, each.version)
        for each in events(store, len(begin))
    ] == [
        ("match-closed", first, tournament, ""),
        ("match-voided", second, tournament, ""),
        ("match-voided", first, tournament, ""),
        ("version-added", "", "", "late@1"),
        ("entered", "", tournament, "late@1"),
        ("match-closed", third, tournament, ""),
        ("match-closed", again, tournament, ""),
        ("withdrawn", "", tournament, "bot2@1"),
        *[("match-voided", match, tournament, "") for match in gone],
        ("tournament-ended", "", tournament, ""),
    ]
    every = events(store)
    assert [each.seq for each in every] == list(range(1, len(every) + 1))


def test_a_transaction_that_fails_adds_nothing(store: Engine) -> None:
    with suppress(ZeroDivisionError), database.writing(store) as connection:
        closings.add_closing(connection, ClosingKind.OWNER_DELETED)
        raise ZeroDivisionError
    assert closings.newest_closing_of(store) == 0


def test_a_follower_misses_nothing_beside_slow_transactions(store: Engine) -> None:
    """A follower that reads after its position sees every event of four writers once."""
    each_adds, stop = 25, Event()

    def write(name: str) -> None:
        for number in range(each_adds):
            with database.writing(store) as connection:
                closings.add_closing(
                    connection, ClosingKind.VERSION_ADDED, version=f"{name}@{number}"
                )
                closings.add_closing(connection, ClosingKind.OWNER_DELETED)

    def follow() -> list[closings.Closing]:
        seen: list[closings.Closing] = []
        for _ in count():
            is_last = stop.is_set()
            new = events(store, seen[-1].seq if seen else 0)
            seen += new
            if is_last and not new:
                break
        return seen

    with ThreadPoolExecutor(5) as pool:
        following = pool.submit(follow)
        for writing in [pool.submit(write, name) for name in "abcd"]:
            writing.result()
        stop.set()
        seen = following.result()
    added = [each.version for each in seen if each.kind is ClosingKind.VERSION_ADDED]
    assert sorted(added) == sorted(f"{name}@{n}" for name in "abcd" for n in range(each_adds))
    assert [each.seq for each in seen] == list(range(1, 8 * each_adds + 1))

"""Test tournaments with remote bots: services, a relay, connectors, and a connection to cut."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.bots import resolver
from arena.config import Folder
from arena.services.local import Services
from arena.services.relay_process import RelayOptions
from arena.store import database
from arena.store.bots import remote_bots, versions
from arena.store.match_settings import Clock
from arena.store.matches import listing, offline_bot_waits, results
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.remote.relay_harness import AuthorMachine, TcpForwarder
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

SAMPLES = Path(__file__).parents[3] / "sample_bots"
PLAYS = """
import os, random, sys, time
from pathlib import Path
from pokearena_bot import run

def choose(turn):
    with (Path(sys.argv[1]) / "asked").open("a") as asked:
        print(turn.match, turn.game, turn.decision, file=asked)
    while (Path(sys.argv[1]) / "wait").exists():
        (Path(sys.argv[1]) / "waits").touch()
        time.sleep(0.01)
    if (Path(sys.argv[1]) / "die").exists():
        (Path(sys.argv[1]) / "die").unlink()
        os._exit(5)
    return random.choice(turn.legal)

run(choose, games_in_flight=1)
"""
"""Logs the questions. While a file `wait` exists, the bot creates `waits` and does not answer.

If a file `die` exists, the bot deletes it and exits.
"""


class RemoteArena:
    """Manage a data folder with a house bot and a remote bot."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.where = Folder(directory / "data").create()
        self.engine: Engine = database.open(self.where.database_url({}))
        database.upgrade(self.engine)
        meek = resolver.sample("meek")
        self.meek = versions.add_version(
            self.engine, "meek", "1", "m" * 64, str(meek.folder), {}
        ).id
        version, self.token = remote_bots.add_relayed(self.engine, "far", "1")
        self.far = version.id

    def schedule(
        self, entrants: list[str], boards: int = 1, bank: int = 60_000, start: int = 60_000
    ) -> Tournament:
        plan = poke_plan(boards=boards, clock=Clock(start, 500, bank))
        return scheduler.begin(self.engine, plan, entrants, bytes(32))

    def home(self, where: int | str, named: str = "") -> AuthorMachine:
        return AuthorMachine(self.directory, where, self.token, bot=PLAYS, named=named)

    def services(self, wait: float = 600.0) -> Services:
        return Services(self.where, 1, relaying=RelayOptions("127.0.0.1:0", wait=wait))

    def is_closed(self, tournament: Tournament) -> bool:
        return (
            tournaments.find_tournament(self.engine, tournament.id).state == TournamentState.CLOSED
        )

    def is_here(self) -> bool:
        bot = remote_bots.find_remote_bot(self.engine, self.far)
        return bot is not None and bot.is_connected

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.where.database) as connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return rows


def port(services: Services) -> int:
    return int(services.snapshot.relay.rpartition(":")[2])


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[RemoteArena]:
    """Yield an arena without services."""
    arena = RemoteArena(tmp_path)
    yield arena
    arena.engine.dispose()


@pytest.mark.long
def test_a_remote_bot_plays_a_tournament_with_fresh_boards_per_table(
    arena: RemoteArena,
) -> None:
    tournament = arena.schedule([arena.meek, arena.far], boards=2)
    with arena.services() as services:
        [match] = listing.matches(arena.engine)
        # The match waits without attempts.
        wait_until(lambda: offline_bot_waits.waited_for(arena.engine) == {arena.far: 1})
        with arena.home(port(services)) as home:
            wait_until(lambda: arena.is_closed(tournament))
            wait_until(lambda: home.has_event("outcome"))
    match = listing.find_match(arena.engine, match.id)
    assert (match.state, match.attempt, match.failures) == (MatchState.CLOSED, 1, 0)
    assert arena.sql("SELECT board FROM games ORDER BY game") == [(0,), (1,), (2,), (3,)]
    closed = results.of_match(arena.engine, match.id)
    assert {verdict for game in closed.games for verdict in game.verdicts} == {"finished"}
    [outcome] = [event["outcome"] for event in home.events if event["event"] == "outcome"]
    assert (outcome["match"], outcome["opponents"], outcome["games"]) == (match.id, [arena.meek], 4)
    assert sum(event["event"] == "table" for event in home.events) == 2


def test_relay_addresses_are_listed_while_a_bot_is_online_or_awaited(arena: RemoteArena) -> None:
    arena.schedule([arena.meek, arena.far])
    [match] = listing.matches(arena.engine)
    assert remote_bots.relay_addresses(arena.engine, match.id) == {}
    way = {"address": "10.0.0.5:7001", "secret": "s", "certificate": ""}
    remote_bots.record_connected(arena.engine, arena.far, "unix:/elsewhere/control.sock", 1, way)
    there = {"unix:/elsewhere/control.sock": way}
    assert remote_bots.relay_addresses(arena.engine, match.id) == there
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE remotes SET until = 0")
    assert remote_bots.relay_addresses(arena.engine, match.id) == there
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE matches SET unawaited = 1")
    assert remote_bots.relay_addresses(arena.engine, match.id) == {}


@pytest.mark.long
def test_a_game_continues_after_a_reconnection_within_the_clock(
    arena: RemoteArena,
) -> None:
    tournament = arena.schedule([arena.meek, arena.far])
    with (
        arena.services() as services,
        TcpForwarder(port(services)) as cable,
        arena.home(cable.port) as home,
    ):
        home.hold()
        cable.cut()
        wait_until(lambda: not arena.is_here())
        (home.folder / "wait").unlink()
        cable.mend()
        wait_until(lambda: arena.is_closed(tournament))
        assert home.has_event("again")
        # The bot received no question twice.
        assert len(set(home.questions())) == len(home.questions())
    [match] = listing.matches(arena.engine)
    assert (match.attempt, match.failures) == (1, 0)
    assert arena.sql("SELECT count(*) FROM faults") == [(0,)]


@pytest.mark.long
def test_a_long_disconnection_is_a_timeout(arena: RemoteArena) -> None:
    with (
        arena.services(wait=2.0) as services,
        TcpForwarder(port(services)) as cable,
        arena.home(cable.port) as home,
    ):
        wait_until(arena.is_here)
        (home.folder / "wait").touch()
        tournament = arena.schedule([arena.meek, arena.far], bank=2_000, start=15_000)
        home.hold()
        cable.cut()
        # The current table ends by the clock. The match has begun, so the next table does not wait.
        wait_until(lambda: arena.is_closed(tournament))
    [match] = listing.matches(arena.engine)
    assert (match.state, match.failures) == (MatchState.CLOSED, 0)
    assert "the tournament continues without it" in str(match.reason)
    verdicts = arena.sql("SELECT DISTINCT verdict FROM faults ORDER BY verdict")
    assert verdicts == [("init",), ("timeout",)]
    assert arena.sql("SELECT DISTINCT version FROM faults") == [(arena.far,)]


@pytest.mark.long
@pytest.mark.repetition
def test_an_exited_remote_process_is_a_crash_and_may_restart(arena: RemoteArena) -> None:
    with arena.services() as services, arena.home(port(services)) as home:
        wait_until(arena.is_here)
        (home.folder / "die").touch()
        tournament = arena.schedule([arena.meek, arena.far], boards=2)
        wait_until(lambda: arena.is_closed(tournament))
    rows = arena.sql("SELECT verdict, ended FROM faults")
    assert rows == [("crash", "exited with status 5")]
    [match] = listing.matches(arena.engine)
    assert (match.attempt, match.failures) == (1, 0)
    verdicts = [game.verdicts[1] for game in results.of_match(arena.engine, match.id).games]
    assert sorted(verdicts) == ["crash", "finished", "finished", "finished"]


@pytest.mark.long
@pytest.mark.repetition
def test_a_bot_in_any_folder_can_connect(arena: RemoteArena) -> None:
    tournament = arena.schedule([arena.meek, arena.far])
    with arena.services() as services, arena.home(port(services), str(SAMPLES / "shell")):
        wait_until(lambda: arena.is_closed(tournament))
    assert arena.sql("SELECT count(*) FROM faults") == [(0,)]


@pytest.mark.long
def test_a_match_without_its_remote_bot_becomes_void(arena: RemoteArena) -> None:
    tournament = arena.schedule([arena.meek, arena.far])
    with arena.services(wait=0.5):
        wait_until(lambda: arena.is_closed(tournament))
    [match] = listing.matches(arena.engine)
    assert (match.state, match.attempt) == (MatchState.VOID, 0)
    assert "far@1 was not there for 0.5 s; nobody is charged" in str(match.reason)


@pytest.mark.long
def test_a_bot_with_a_direct_address_is_awaited(arena: RemoteArena, tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/direct.sock"
    direct = remote_bots.add_direct(arena.engine, "direct", "1", address).id
    tournament = arena.schedule([arena.meek, direct])
    with arena.services():
        wait_until(lambda: offline_bot_waits.waited_for(arena.engine) == {direct: 1})
        (tmp_path / "bot.py").write_text(PLAYS)
        with GuardedProcess(
            [sys.executable, "bot.py", str(tmp_path)],
            cwd=tmp_path,
            env={**os.environ, "POKEARENA_ADDRESS": address},
        ) as bot:
            wait_until(lambda: arena.is_closed(tournament))
            bot.kill()
    [match] = listing.matches(arena.engine)
    assert (match.state, match.failures) == (MatchState.CLOSED, 0)
    assert arena.sql("SELECT count(*) FROM faults") == [(0,)]

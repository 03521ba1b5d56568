"""Test that the loss of a relay is a failure of the arena, whatever its bots were about to do."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from pokearena.v1 import referee_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.resolver import sample
from arena.errors import InfrastructureError
from arena.matches.table import Table
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import Clock
from arena.store.matches.table_plan import plan
from tests.arena.matches.test_match_play import MatchArena, started_referee
from tests.arena.remote.relay_harness import AuthorMachine, Relay
from tests.errors import has_code
from tests.waiting import wait_until


@contextmanager
def connected(directory: Path) -> Iterator[tuple[Relay, str, AuthorMachine]]:
    """Run a relay for one test, with a connected bot."""
    with Relay(directory) as relay, relay.connected(directory, "far") as (version, home):
        yield relay, version, home


@pytest.mark.long
def test_a_relay_killed_before_a_table_charges_no_bot(tmp_path: Path) -> None:
    played: list[PlayedGame] = []
    with (
        connected(tmp_path) as (relay, version, _),
        started_referee(tmp_path) as referee,
        grpc.insecure_channel(referee.address) as channel,
    ):
        bots = [Bot(version, relay=relay.control), sample("random")]
        # The bot's clock expires soon.
        clock = Clock(start_ms=500)
        spec = replace(MatchArena(tmp_path, referee).spec(bots, boards=1), clock=clock)
        table = Table(spec, plan(spec)[0], bots)

        class KillsFirst:
            """Kill the relay after all bots have started, then forward the call to the referee."""

            def RunTable(self, *requests: Any, **options: Any) -> Any:
                relay.stop(signal.SIGKILL)
                wait_until(lambda: bool(table._lost))
                return referee_pb2_grpc.RefereeServiceStub(channel).RunTable(*requests, **options)

        with pytest.raises(InfrastructureError, check=has_code("helper-lost")):
            table.play(KillsFirst(), played.append, lambda entrant, reports: None)
    assert played == []


@pytest.mark.long
def test_a_bot_whose_relay_is_killed_has_no_report(tmp_path: Path) -> None:
    with connected(tmp_path) as (relay, version, _), relay.seated(version) as table:
        table.start()
        relay.stop(signal.SIGKILL)
        wait_until(lambda: bool(table.lost))
        with pytest.raises(InfrastructureError, check=has_code("relay-lost")):
            table.report()


@pytest.mark.long
def test_a_bot_whose_relay_is_frozen_has_no_report(tmp_path: Path) -> None:
    with connected(tmp_path) as (relay, version, _), relay.seated(version) as table:
        table.start()
        assert relay.process is not None
        relay.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(InfrastructureError, check=has_code("relay-frozen")):
                table.report()
        finally:
            relay.process.send_signal(signal.SIGCONT)

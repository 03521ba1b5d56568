"""Test seats of a relay on another machine, as workers and referees use them."""

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from pokearena.v1 import bot_pb2

from arena.bots import resolver, version_store
from arena.bots.bot import Bot
from arena.config import Folder
from arena.errors import BotAbsent, InfrastructureError
from arena.matches.remote_seats import RemoteSeats
from arena.services.queue import redis_server
from arena.services.queue.match_queue import MatchQueue
from arena.store.bots import versions
from arena.store.bots.version_files import keep
from arena.store.match_settings import Clock
from arena.store.matches import listing, results
from arena.store.schema import MatchState
from arena.system import redis_connection
from arena.system.tunnel import local_sockets, stream
from arena.system.tunnel.endpoint import TunnelEndpoint
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA
from tests.arena.poke_plan import poke_plan
from tests.arena.remote.relay_harness import ELSEWHERE, AuthorMachine, Relay, TcpForwarder
from tests.arena.remote.test_relay import certify
from tests.errors import has_code
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    """Run one relay with a worker endpoint for all tests of this module; each has its own bot."""
    with Relay(tmp_path_factory.mktemp("relay"), "--workers=127.0.0.1:0") as relay:
        yield relay


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time limits, so that a busy machine does not count as a slow or lost tunnel."""
    monkeypatch.setattr(local_sockets, "LATE_SECONDS", 1e6)
    monkeypatch.setattr(local_sockets, "LOST_SECONDS", 1e6)
    monkeypatch.setattr(stream, "DIAL_SECONDS", 1e6)


@pytest.mark.long
def test_a_bot_answers_through_the_tunnel(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "far") as (version, home):
        with relay.seated(version, way=relay.way(version)) as table:
            assert table.start().games_in_flight == 3
            assert table.act(5).result().decision == 5
            # More bytes than all buffers on the way can hold.
            questions = [bot_pb2.ActRequest(game=n, match="m" * 100_000) for n in range(20)]
            requests = [bot_pb2.PlayRequest(questions=questions)]
            answers = table.bot.Play(iter(requests))
            assert [a.game for each in answers for a in each.answers] == list(range(20))
            assert table.report().ended == ""
            (home.folder / "die").touch()
            with pytest.raises(grpc.RpcError):
                table.act(6).result()
            wait_until(lambda: bool(table.ended))
            assert table.report().ended == "exited with status 7"
        assert not table.lost


@pytest.mark.long
def test_a_lost_tunnel_is_an_infrastructure_failure(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "cut") as (version, home):
        port = int(relay.way(version).address.rpartition(":")[2])
        with (
            TcpForwarder(port) as cable,
            relay.seated(version, way=relay.way(version, cable.port)) as table,
        ):
            call = table.open_question(home)
            cable.cut()
            with pytest.raises(grpc.RpcError):
                call.result()
            # The referee has noticed the failed call, and requests the bot's report.
            with pytest.raises(InfrastructureError, check=has_code("tunnel-lost")):
                table.report()
            wait_until(lambda: bool(table.lost))
        # The relay also frees the seat, so the bot can take another one.
        (home.folder / "wait").unlink()
        wait_until(lambda: relay.is_here(version) and has_room(relay, version))
        with relay.seated(version, way=relay.way(version)) as table:
            assert table.start().games_in_flight == 3


def has_room(relay: Relay, version: str) -> bool:
    with relay.engine.connect() as connection:
        query = "SELECT room FROM remotes WHERE version = ?"
        return bool(connection.exec_driver_sql(query, (version,)).scalar_one())


@pytest.mark.long
def test_faults_during_a_stalled_tunnel_are_discarded(
    relay: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with relay.connected(tmp_path, "held-up") as (version, _):
        with relay.seated(version, way=relay.way(version)) as table:
            table.start()
            assert table.report().ended == ""
            # From now on every response is late.
            monkeypatch.setattr(local_sockets, "LATE_SECONDS", -1.0)
            with pytest.raises(InfrastructureError, check=has_code("tunnel-late")):
                table.report()
        assert not table.lost


@pytest.mark.long
def test_a_wrong_tunnel_secret_is_refused_and_logged(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "guarded") as (version, _):
        way = replace(relay.way(version), secret="guessed")
        assert stream.is_reachable(relay.way(version))
        assert not stream.is_reachable(way)
        log_text = relay.log.read_text()
        assert "it does not have the secret in the store" in log_text
        assert relay.way(version).secret not in log_text
        assert relay.way(version).secret not in repr(relay.way(version))
        with RemoteSeats("m-1", lambda report: None, lambda sentence: None) as relayed:
            # While a match waits for the bot, an unreachable relay means an absent bot. Afterwards
            # it is a failure of the arena, because the worker cannot determine whether the bot is
            # connected.
            with pytest.raises(BotAbsent, check=has_code("relay-unreachable")):
                relayed.start(0, Bot(version, relay=ELSEWHERE, tunnel=way))
            with pytest.raises(InfrastructureError, check=has_code("relay-unreachable")):
                relayed.start(0, Bot(version, relay=ELSEWHERE, tunnel=way, awaited=False))


@pytest.mark.long
def test_the_tunnel_leads_only_to_the_control_api_and_seats(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "walled") as (version, _):
        for name in ("../../etc/passwd", "port", "1.bot/../port", "", "99999.bot"):
            with pytest.raises(stream.TunnelUnavailable):
                asyncio.run(stream.dial(relay.way(version), name))
        asyncio.run(opened(relay.way(version)))


async def opened(way: TunnelEndpoint) -> None:
    (await stream.dial(way, stream.CONTROL_API)).abort()


@pytest.mark.long
def test_a_silent_tunnel_connection_is_closed(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "patient") as (version, _):
        host, _, port = relay.way(version).address.rpartition(":")
        with socket.create_connection((host, int(port))) as silent:
            while silent.recv(4096):
                pass


@pytest.mark.long
def test_over_tls_only_the_stored_relay_certificate_is_trusted(
    tmp_path: Path,
) -> None:
    certificate, key = certify(tmp_path)
    options = (f"--certificate={certificate}", f"--key={key}", "--workers=127.0.0.1:0")
    with Relay(tmp_path, *options) as relay:
        version, token = relay.add("secret")
        url = f"grpcs://localhost:{relay.port}"
        with AuthorMachine(tmp_path, url, token, "--ca", str(certificate)):
            wait_until(lambda: relay.is_here(version))
            way = relay.way(version)
            with relay.seated(version, way=way) as table:
                table.start()
                assert table.act(1).result().decision == 1
            for other in (replace(way, certificate="0" * 64), replace(way, certificate="")):
                with pytest.raises(stream.TunnelUnavailable):
                    asyncio.run(opened(other))


@pytest.mark.long
def test_a_worker_on_another_host_plays_a_bot_through_the_tunnel(
    tmp_path: Path,
) -> None:
    with (
        redis_server.resolve(Folder(tmp_path / "redis"), {}) as redis,
        Relay(tmp_path, "--workers=127.0.0.1:0", hidden=True) as relay,
    ):
        version, token = relay.add("far")
        meek = version_store.admit(resolver.sample("meek"), relay.where.versions)
        keep(relay.engine, meek)
        # The folder of the version exists on the first machine only.
        near = versions.add_version(relay.engine, "meek", "1", meek.content, "/elsewhere", {}).id
        with AuthorMachine(tmp_path, relay.port, token, named="sample:greedy"):
            wait_until(lambda: relay.is_here(version))
            plan = poke_plan(clock=Clock(60_000, 60_000))
            scheduler.begin(relay.engine, plan, [near, version], bytes(32))
            [match] = listing.matches(relay.engine)
            # A busy machine may lose the tunnel; then the match is attempted again.
            while listing.find_match(relay.engine, match.id).state != MatchState.CLOSED:
                with contextlib.closing(redis_connection.connect(redis.url)) as connection:
                    MatchQueue(connection).enqueue(match.id)
                work_on_other_host(tmp_path, relay, redis.url)
        games = results.of_match(relay.engine, match.id).games
        assert {verdict for game in games for verdict in game.verdicts} == {"finished"}


def work_on_other_host(directory: Path, relay: Relay, redis: str) -> None:
    """Run a worker with the URLs of the store and Redis until no job waits."""
    there = {
        "POKEARENA_DATA": str(directory / "there"),
        "POKEARENA_DATABASE_URL": relay.where.database_url({}),
        "POKEARENA_REDIS_URL": redis,
    }
    cwd = {name: value for name, value in os.environ.items() if not name.startswith("POKEARENA_")}
    subprocess.run([POKEARENA, "worker", "--burst"], env={**cwd, **there}, check=True)

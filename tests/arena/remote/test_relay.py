"""Test a relay and connectors, with the requests that workers and referees send."""

import asyncio
import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pokearena.v1 import bot_pb2, relay_pb2, relay_pb2_grpc

from arena.bots.bot import Bot
from arena.errors import BotAbsent
from arena.matches.remote_seats import RemoteSeats
from arena.remote.relay.relay_session import UNREAD_BYTES, ConnectorLink
from arena.remote.relay.session_registry import GUESS_BURST
from arena.remote.relay.unauthenticated_streams import (
    MAX_UNAUTHENTICATED_STREAMS,
    MOST_PER_ADDRESS,
    UnauthenticatedStreams,
    address_of,
)
from arena.store.bots import remote_bots, versions
from tests.arena.remote.relay_harness import AuthorMachine, Relay, TcpForwarder
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    """Run one relay for all tests of this module; each test has its own bot."""
    with Relay(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


def test_a_connected_bot_is_online_and_answers_at_its_seat(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("simple")
    assert not relay.is_here(version)
    with AuthorMachine(tmp_path, relay.port, token) as home:
        wait_until(lambda: relay.is_here(version))
        wait_until(lambda: home.has_event("connected"))
        assert remote_bots.relay_address(relay.engine, version).tunnel is None
        with relay.seated(version) as table:
            assert table.start().games_in_flight == 3
            answer = table.act(5).result()
            assert (answer.decision, answer.note.split()[1:]) == (5, ["1", "1"])
            process = int(answer.note.split()[0])
        wait_until(lambda: not Path(f"/proc/{process}").exists())
        with relay.seated(version) as table:
            table.start()
            assert table.act(0).result().note.split()[0] != str(process)


@pytest.mark.long
def test_questions_of_a_stream_are_answered_one_by_one(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "streams") as (version, _), relay.seated(version) as table:
        table.start()
        questions = [bot_pb2.ActRequest(game=game, decision=9) for game in range(3)]
        answers = table.bot.Play(iter([bot_pb2.PlayRequest(questions=questions)] * 2))
        decisions = [(a.game, a.note.split()[2]) for each in answers for a in each.answers]
    assert decisions == [(0, "1"), (1, "2"), (2, "3"), (0, "4"), (1, "5"), (2, "6")]


@pytest.mark.long
def test_an_open_question_is_answered_after_a_reconnection(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("cut")
    with TcpForwarder(relay.port) as cable, AuthorMachine(tmp_path, cable.port, token) as home:
        wait_until(lambda: relay.is_here(version))
        with relay.seated(version) as table:
            call = table.open_question(home)
            cable.cut()
            wait_until(lambda: not relay.is_here(version))
            # The bot answers while it is disconnected.
            (home.folder / "wait").unlink()
            wait_until(lambda: home.has_event("lost"))
            cable.mend()
            first = call.result().note
            assert first.split()[1:] == ["1", "1"]
            # A question that is sent while the cable is cut waits too.
            cable.cut()
            wait_until(lambda: not relay.is_here(version))
            call = table.act(2)
            cable.mend()
            assert call.result().note == f"{first.split()[0]} 1 2"
            assert home.has_event("again")


@pytest.mark.long
def test_a_restarted_connector_receives_the_open_question_again(
    relay: Relay, tmp_path: Path
) -> None:
    with relay.connected(tmp_path, "anew") as (version, home), relay.seated(version) as table:
        call = table.open_question(home)
        home.process.kill()
        home.process.wait()
        wait_until(lambda: not relay.is_here(version))
        (home.folder / "wait").unlink()
        home.start()
        # The new process first received its Start request.
        assert call.result().note.split()[1:] == ["1", "1"]
        assert home.questions() == ["1 1", "1 1"]


@pytest.mark.long
@pytest.mark.repetition
def test_an_expired_question_is_not_answered_after_a_reconnection(
    relay: Relay, tmp_path: Path
) -> None:
    version, token = relay.add("late")
    with TcpForwarder(relay.port) as cable, AuthorMachine(tmp_path, cable.port, token) as home:
        wait_until(lambda: relay.is_here(version))
        with relay.seated(version) as table:
            call = table.open_question(home)
            cable.cut()
            wait_until(lambda: not relay.is_here(version))
            call.cancel()
            call = table.act(2)
            (home.folder / "wait").unlink()
            cable.mend()
            assert call.result().decision == 2


@pytest.mark.long
def test_an_exited_process_is_reported_with_its_status(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "mortal") as (version, home):
        with relay.seated(version) as table:
            table.start()
            (home.folder / "die").touch()
            with pytest.raises(grpc.RpcError) as caught:
                table.act(1).result()
            assert isinstance(caught.value, grpc.Call)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            wait_until(lambda: bool(table.ended))
            assert table.ended[0].ended == "exited with status 7"
        assert not table.lost


@pytest.mark.long
def test_a_second_connection_is_refused_and_the_first_continues(
    relay: Relay, tmp_path: Path
) -> None:
    version, token = relay.add("stolen")
    with AuthorMachine(tmp_path, relay.port, token) as home:
        wait_until(lambda: relay.is_here(version))
        with relay.seated(version) as table:
            call = table.open_question(home)
            with AuthorMachine(tmp_path, relay.port, token) as thief:
                assert thief.process.wait() == 1
                assert f"{version} is connected already" in thief.output
            (home.folder / "wait").unlink()
            assert call.result().note.split()[1:] == ["1", "1"]
        bot = remote_bots.find_remote_bot(relay.engine, version)
        assert bot is not None
        assert bot.refusals == 1
        assert str(bot.refusal) in thief.output
        assert str(bot.refusal) in relay.log.read_text()
        assert not home.has_event("lost")


@pytest.mark.long
@pytest.mark.repetition
def test_one_of_two_simultaneous_connections_is_accepted(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("twins")
    with (
        AuthorMachine(tmp_path, relay.port, token) as first,
        AuthorMachine(tmp_path, relay.port, token) as second,
    ):
        wait_until(lambda: 1 in (first.process.poll(), second.process.poll()))
        refused, let_in = (first, second) if first.process.poll() == 1 else (second, first)
        wait_until(lambda: let_in.has_event("connected"))
        assert f"{version} is connected already" in refused.output
        assert let_in.process.poll() is None


@pytest.mark.long
def test_renewing_a_token_closes_its_connection(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("renewed")
    with AuthorMachine(tmp_path, relay.port, token) as thief:
        wait_until(lambda: relay.is_here(version))
        fresh = remote_bots.renew(relay.engine, version)
        assert thief.process.wait() == 1
        assert "its token was renewed" in thief.output
    with AuthorMachine(tmp_path, relay.port, token) as thief:
        assert thief.process.wait() == 1
        assert "unknown token" in thief.output
    with AuthorMachine(tmp_path, relay.port, fresh):
        wait_until(lambda: relay.is_here(version))


@pytest.mark.long
def test_a_retired_bot_is_refused(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("old")
    versions.retire(relay.engine, version)
    with AuthorMachine(tmp_path, relay.port, token) as home:
        assert home.process.wait() == 1
        assert f"{version} is retired" in home.output
    bot = remote_bots.find_remote_bot(relay.engine, version)
    assert bot is not None
    assert (bot.is_connected, bot.refusals) == (False, 1)


@pytest.mark.long
def test_an_offline_or_busy_bot_gets_no_seat(relay: Relay, tmp_path: Path) -> None:
    version, token = relay.add("busy")
    with (
        RemoteSeats("m-1", lambda report: None, lambda sentence: None) as relayed,
        pytest.raises(BotAbsent, match="is not connected"),
    ):
        relayed.start(0, Bot(version, relay=relay.control))
    with AuthorMachine(tmp_path, relay.port, token, "--tables", "1"):
        wait_until(lambda: relay.is_here(version))
        # Both seats of one match, but not a second match.
        with (
            relay.seated(version, "m-1"),
            relay.seated(version, "m-1"),
            pytest.raises(BotAbsent, match="no more tables"),
            relay.seated(version, "m-2"),
        ):
            pass


@pytest.mark.long
def test_ctrl_c_disconnects_after_the_current_table(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "leaver") as (version, home):
        with relay.seated(version) as table:
            table.start()
            home.process.send_signal(signal.SIGINT)
            wait_until(lambda: home.has_event("leaving"))
            assert table.act(1).result().decision == 1
            assert home.process.poll() is None
        assert home.process.wait() == 0
    wait_until(lambda: not relay.is_here(version))


@pytest.mark.long
def test_ctrl_c_twice_disconnects_at_once(relay: Relay, tmp_path: Path) -> None:
    with relay.connected(tmp_path, "hasty") as (version, home), relay.seated(version) as table:
        table.start()
        process = int(table.act(1).result().note.split()[0])
        home.process.send_signal(signal.SIGINT)
        wait_until(lambda: home.has_event("leaving"))
        home.process.send_signal(signal.SIGINT)
        assert home.process.wait() == 130
        assert not os.path.exists(f"/proc/{process}")


@pytest.mark.long
def test_a_relay_with_a_certificate_requires_tls_and_trust(tmp_path: Path) -> None:
    certificate, key = certify(tmp_path)
    options = (f"--certificate={certificate}", f"--key={key}")
    with Relay(tmp_path, *options) as relay:
        version, token = relay.add("secret")
        url = f"grpcs://localhost:{relay.port}"
        with AuthorMachine(tmp_path, url, token, "--ca", str(certificate)):
            wait_until(lambda: relay.is_here(version))
            with relay.seated(version) as table:
                table.start()
                assert table.act(1).result().decision == 1
        wait_until(lambda: not relay.is_here(version))
        with (
            AuthorMachine(tmp_path, url, token) as stranger,
            AuthorMachine(tmp_path, relay.port, token) as plain,
        ):
            assert (stranger.process.wait(), plain.process.wait()) == (3, 3)
            assert "--ca FILE" in stranger.output
            assert "grpcs://" in plain.output
        assert not relay.is_here(version)


def certify(folder: Path) -> tuple[Path, Path]:
    """Create a self-signed certificate for localhost, and its key."""
    if shutil.which("openssl") is None and not os.environ.get("CI"):
        pytest.skip("a certificate is made by openssl, which is not here")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=arena", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.mark.long
def test_an_unreachable_relay_is_reported(tmp_path: Path) -> None:
    with TcpForwarder(1) as cable, AuthorMachine(tmp_path, cable.port, "token") as home:
        assert home.process.wait() == 3
        assert "no relay answers" in home.output


def refusal(relay: Relay, *messages: relay_pb2.ConnectRequest) -> tuple[grpc.StatusCode, str]:
    """Open a stream, send these messages, and return the status code and details that end it."""
    silent = threading.Event()

    def say() -> Iterator[relay_pb2.ConnectRequest]:
        yield from messages
        silent.wait()

    with grpc.insecure_channel(f"127.0.0.1:{relay.port}") as channel:
        call: Any = relay_pb2_grpc.RelayServiceStub(channel).Connect(say())
        try:
            for _ in call:
                pass
        except grpc.RpcError:
            pass
        finally:
            silent.set()
        return call.code(), call.details()


def own_connection(relay: Relay) -> grpc.Channel:
    """Return a channel that shares its connection with no other one."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    return grpc.insecure_channel(f"127.0.0.1:{relay.port}", options=options)


def test_a_connection_without_hello_is_refused(relay: Relay) -> None:
    leaving = relay_pb2.ConnectRequest(leaving=relay_pb2.Leaving())
    code, details = refusal(relay, leaving)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "must be Hello" in details


@pytest.mark.long
def test_a_silent_connection_times_out(relay: Relay) -> None:
    with socket.create_connection(("127.0.0.1", relay.port)) as silent:
        code, details = refusal(relay)
        assert code is grpc.StatusCode.DEADLINE_EXCEEDED
        assert "no Hello arrived" in details
        # The server sends its settings, and closes the silent connection.
        while silent.recv(4096):
            pass


def test_silent_streams_of_one_address_do_not_keep_a_bot_out(relay: Relay, tmp_path: Path) -> None:
    silent = threading.Event()

    def never() -> Iterator[relay_pb2.ConnectRequest]:
        silent.wait()
        yield from ()

    with contextlib.ExitStack() as stack:
        stack.callback(silent.set)
        for _ in range(23):
            channel = stack.enter_context(own_connection(relay))
            stub = relay_pb2_grpc.RelayServiceStub(channel)
            for _ in range(4):
                stub.Connect(never())
        with relay.connected(tmp_path, "beside-silence") as (_, home):
            wait_until(lambda: home.has_event("connected"))


def test_the_oldest_silent_stream_is_closed_per_address_then_in_total() -> None:
    async def admit() -> list[bool]:
        streams = UnauthenticatedStreams()
        addresses = ["a"] * (MOST_PER_ADDRESS + 1) + [
            f"b{n}" for n in range(MAX_UNAUTHENTICATED_STREAMS)
        ]
        with contextlib.ExitStack() as stack:
            limits = [asyncio.timeout(None) for _ in addresses]
            ended = []
            for limit, address in zip(limits, addresses, strict=True):
                await limit.__aenter__()
                stack.enter_context(streams.counted(address, limit))
            for limit in limits:
                ended.append(limit.when() is not None)
                limit.reschedule(None)
                await limit.__aexit__(None, None, None)
        return ended

    ended = asyncio.run(admit())
    assert ended[0]
    assert sum(ended) == len(ended) - MAX_UNAUTHENTICATED_STREAMS
    assert ended == sorted(ended, reverse=True)


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.1:50000", "192.0.2.1"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:50000", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2::1]:1", "2001:db8:1:2::/64"),
        ("ipv6:[::ffff:192.0.2.1]:1", "192.0.2.1"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_streams_are_counted_by_address_or_network(peer: str, address: str) -> None:
    assert address_of(peer) == address


def test_unsolicited_answers_close_the_connection(relay: Relay) -> None:
    _, token = relay.add("flood")
    hello = relay_pb2.Hello(token=token, instance="flood")
    flood = [relay_pb2.ConnectRequest(answer=relay_pb2.Answer(seat=7, number=1))] * 1001
    code, details = refusal(relay, relay_pb2.ConnectRequest(hello=hello), *flood)
    assert code is grpc.StatusCode.ABORTED
    assert "more than the questions to it allow" in details


@pytest.mark.long
@pytest.mark.repetition
def test_watched_health_states_of_one_address_do_not_keep_a_bot_out(
    relay: Relay, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        watches = []
        for _ in range(MOST_PER_ADDRESS + 1):
            channel = stack.enter_context(own_connection(relay))
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            next(watch)
            watches.append(watch)
        # One stream above the limit closes the oldest one.
        with pytest.raises(grpc.RpcError):
            next(watches[0])
        assert watches[0].code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert all(watch.is_active() for watch in watches[1:])
        with relay.connected(tmp_path, "beside-watches") as (_, home):
            wait_until(lambda: home.has_event("connected"))


@pytest.mark.long
def test_an_address_that_guesses_tokens_is_refused_but_not_a_known_token(tmp_path: Path) -> None:
    with Relay(tmp_path) as relay:
        version, token = relay.add("honest")
        hello = relay_pb2.Hello(token=token, instance="first")
        left = [relay_pb2.ConnectRequest(leaving=relay_pb2.Leaving())]
        refusal(relay, relay_pb2.ConnectRequest(hello=hello), *left)
        codes = [
            refusal(
                relay,
                relay_pb2.ConnectRequest(hello=relay_pb2.Hello(token=f"{n}", instance="guess")),
            )[0]
            for n in range(GUESS_BURST + 2)
        ]
        assert codes[:GUESS_BURST] == [grpc.StatusCode.UNAUTHENTICATED] * GUESS_BURST
        assert codes[-1] is grpc.StatusCode.UNAVAILABLE
        # The relay reads the new tokens from the store at its next check.
        with AuthorMachine(tmp_path, relay.port, token) as home:
            wait_until(lambda: relay.is_here(version))
            wait_until(lambda: home.has_event("connected"))


def test_an_endless_answer_closes_the_connection(relay: Relay) -> None:
    version, token = relay.add("endless")
    ask: list[relay_pb2.Ask] = []
    is_asked = threading.Event()

    def messages() -> Iterator[relay_pb2.ConnectRequest]:
        hello = relay_pb2.Hello(token=token, instance="endless")
        yield relay_pb2.ConnectRequest(hello=hello)
        is_asked.wait()
        for part in itertools.count(1):
            answer = relay_pb2.Answer(
                seat=ask[0].seat, number=ask[0].number, part=part, response=bytes(1000)
            )
            yield relay_pb2.ConnectRequest(answer=answer)

    with (
        contextlib.ExitStack() as stack,
        grpc.insecure_channel(f"127.0.0.1:{relay.port}") as channel,
    ):
        call: Any = relay_pb2_grpc.RelayServiceStub(channel).Connect(messages())
        stack.callback(is_asked.set)
        assert next(call).HasField("welcome")
        table = stack.enter_context(relay.seated(version))
        questions = [bot_pb2.ActRequest(game=1, decision=1)]
        answers = table.bot.Play(iter([bot_pb2.PlayRequest(questions=questions)]))
        ask.append(next(call).ask)
        is_asked.set()
        with pytest.raises(grpc.RpcError):
            for _ in call:
                pass
        assert call.code() is grpc.StatusCode.ABORTED
        assert "more than the questions to it allow" in call.details()
        answers.cancel()


def test_a_bot_that_does_not_read_is_disconnected() -> None:
    link = ConnectorLink()
    message = relay_pb2.ConnectResponse(ask=relay_pb2.Ask(request=bytes(1 << 20)))
    for _ in range(UNREAD_BYTES >> 20):
        assert not link.farewell
        link.send(message)
    assert "does not read" in link.farewell


@pytest.mark.long
def test_an_oversized_message_closes_only_its_connection(relay: Relay, tmp_path: Path) -> None:
    _, huge_token = relay.add("huge")
    hello = relay_pb2.Hello(token=huge_token, instance="huge")
    answer = relay_pb2.Answer(seat=7, number=1, response=bytes(2 << 20))
    with relay.connected(tmp_path, "other") as (version, home):
        code, _ = refusal(
            relay,
            relay_pb2.ConnectRequest(hello=hello),
            relay_pb2.ConnectRequest(answer=answer),
        )
        assert code is not grpc.StatusCode.OK
        with relay.seated(version) as table:
            table.start()
            assert table.act(1).result().decision == 1
        assert not home.has_event("lost")


def test_the_relay_serves_only_its_own_and_the_health_service(relay: Relay) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{relay.port}") as channel:
        healthy = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="pokearena.v1.RelayService")
        )
        assert healthy.status == health_pb2.HealthCheckResponse.SERVING
        seat = relay_pb2_grpc.LobbyServiceStub(channel).Seat(relay_pb2.SeatRequest(version="a@1"))
        with pytest.raises(grpc.RpcError) as caught:
            next(seat)
        assert isinstance(caught.value, grpc.Call)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED

"""The referee's gRPC channel to a bot: valid calls, and errors for all other input."""

import asyncio
import gzip
import math
import random
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc import StatusCode

from referee.rpc.call import MESSAGE_BYTES, CallFailed
from referee.rpc.channel import Channel
from referee.rpc.connection import SLICE_BYTES
from referee.rpc.http2 import (
    END_HEADERS,
    END_STREAM,
    PADDED,
    ErrorCode,
    FrameKind,
    FrameReader,
    HeaderReader,
    HeadersTooLong,
    Http2Error,
    Http2Setting,
    block,
    frame,
    number_in,
    numbered,
    settings,
)
from referee.rpc.work_budget import MESSAGE, START, BudgetExceeded, WorkBudget
from tests.referee.peers import DONE, GOOD, SETTINGS, Peer, prefixed, scripted_peer, trailers
from tests.waiting import wait_until_async

SERVICE = "a.Service"
LARGE = bytes(range(256)) * (MESSAGE_BYTES // 256)
DETAILS = ("", "no idea", "100 %", "%zz%00%ff", "ä\u202e", "a\nb", "x" * 3000)


def in_event_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(**arguments: Any) -> None:
        asyncio.run(test(**arguments))

    return run


async def status_of(channel: Channel, method: str = "Act", message: bytes = b"") -> StatusCode:
    with pytest.raises(CallFailed) as failed:
        await channel.unary(method, message)
    return failed.value.status.code


async def echo(request: bytes, context: Any) -> bytes:
    return request


async def echo_all(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
    async for request in requests:
        yield request


async def fail(request: bytes, context: Any) -> bytes:
    number, _, details = request.decode().partition(" ")
    code = next(code for code in StatusCode if code.value[0] == int(number))
    return await context.abort(code, details)  # type: ignore[no-any-return]


@asynccontextmanager
async def serving(address: str, **options: Any) -> AsyncIterator[Channel]:
    """Run gRPC's own server at an address with a socket or port, and yield a channel to it."""
    methods: dict[str, Any] = {
        "Echo": grpc.unary_unary_rpc_method_handler(echo),
        "Echoes": grpc.stream_stream_rpc_method_handler(echo_all),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
    }
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)], **options)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    port = server.add_insecure_port(address)
    await server.start()
    channel = Channel(address.replace(":0", f":{port}"), SERVICE, WorkBudget(math.inf))
    try:
        yield channel
    finally:
        await channel.close()
        await server.stop(0)


@pytest.mark.parametrize("size", [0, 1, 65_530, 65_531, MESSAGE_BYTES])
@in_event_loop
async def test_messages_of_any_size_are_exchanged(tmp_path: Path, size: int) -> None:
    async with serving(f"unix:{tmp_path}/s") as channel:
        message = LARGE[:size]
        assert await channel.unary("Echo", message, wait=True) == message
        call = await channel.begin("Echoes")
        for _ in range(3):
            await call.send(message)
            assert await call.receive() == message
        call.finish()
        assert await call.receive() is None
        assert call.status is not None
        assert call.status.code is StatusCode.OK


@in_event_loop
async def test_a_failed_call_has_the_details_of_grpc(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    async with serving(address) as channel, grpc.aio.insecure_channel(address) as peer:
        theirs: Any = peer.unary_unary(f"/{SERVICE}/Fail")
        for code in StatusCode:
            for details in DETAILS:
                if code is StatusCode.OK:
                    continue
                message = f"{code.value[0]} {details}".encode()
                with pytest.raises(grpc.aio.AioRpcError) as expected:
                    await theirs(message)
                with pytest.raises(CallFailed) as failure:
                    await channel.unary("Fail", message)
                status = failure.value.status
                assert status.code is expected.value.code()
                assert status.details == expected.value.details()
        assert await status_of(channel, "Nothing") is StatusCode.UNIMPLEMENTED


@in_event_loop
async def test_packed_answers_are_unpacked(tmp_path: Path) -> None:
    for packing in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        address = f"unix:{tmp_path}/{packing.name}"
        async with serving(address, compression=packing) as channel:
            assert await channel.unary("Echo", LARGE) == LARGE


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@in_event_loop
async def test_a_port_is_an_address_too(host: str) -> None:
    async with serving(f"{host}:0") as channel:
        assert await channel.unary("Echo", b"here") == b"here"


NOWHERE = ("unix:/nowhere/at/all", "nowhere", "::", "a:b", "127.0.0.1:0", ":80", "[::1]:65536")
NO_ADDRESS = (f"unix:/{'x' * 200}", "unix:/a\0b", f"{'x' * 70}.org:80", "a\0b:80", "ä..ö:80")


@pytest.mark.parametrize("address", [*NOWHERE, *NO_ADDRESS])
@in_event_loop
async def test_a_call_without_a_listener_fails_at_once(address: str) -> None:
    channel = Channel(address, SERVICE, WorkBudget(math.inf))
    assert await status_of(channel) is StatusCode.UNAVAILABLE
    assert not channel.listening
    await channel.close()


@in_event_loop
async def test_a_waiting_call_starts_when_a_server_listens(tmp_path: Path) -> None:
    channel = Channel(f"unix:{tmp_path}/s", SERVICE, WorkBudget(math.inf))
    asking = asyncio.create_task(channel.unary("Echo", b"early", wait=True))
    # The first attempt to connect fails within these turns of the event loop.
    for _ in range(20):
        await asyncio.sleep(0)
    assert not asking.done()
    async with serving(f"unix:{tmp_path}/s"):
        assert await asking == b"early"
    await channel.close()


@in_event_loop
async def test_a_silent_peer_is_not_listening() -> None:
    async def silent(peer: Peer) -> None:
        await peer.ended()

    async with scripted_peer(silent, settings=b"") as channel:
        asking = asyncio.create_task(channel.unary("Start", b"", wait=True))
        await asyncio.wait([asking], timeout=0.1)
        assert not channel.listening
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert not channel.listening


@in_event_loop
async def test_data_waits_for_the_flow_control_window() -> None:
    async def meagre(peer: Peer) -> None:
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        body = b""
        for credit in (1, 4, 95):
            await peer.send(numbered(FrameKind.WINDOW_UPDATE, stream, credit))
            _, flags, payload = await peer.receive(FrameKind.DATA)
            assert len(payload) == credit
            body += payload
        assert flags & END_STREAM
        await peer.answer(stream, body[5:])

    async with scripted_peer(meagre, settings([(Http2Setting.INITIAL_WINDOW_SIZE, 0)])) as channel:
        assert await channel.unary("Act", b"x" * 95) == b"x" * 95


@in_event_loop
async def test_calls_wait_for_free_streams() -> None:
    async def one_at_a_time(peer: Peer) -> None:
        for _ in range(2):
            stream, _, _ = await peer.receive(FrameKind.HEADERS)
            await peer.receive(FrameKind.DATA)
            await peer.answer(stream, str(stream).encode())

    most = settings([(Http2Setting.MAX_CONCURRENT_STREAMS, 1)])
    async with scripted_peer(one_at_a_time, most) as channel:
        call = await channel.begin("Play")
        waiting = asyncio.create_task(channel.unary("Act", b""))
        await call.send(b"")
        assert await call.receive() == b"1"
        assert await waiting == b"3"


@in_event_loop
async def test_after_goaway_calls_use_another_connection() -> None:
    async def leaving(peer: Peer) -> None:
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        await peer.send(frame(FrameKind.GOAWAY, 0, 0, stream.to_bytes(4, "big") + bytes(4)))
        await peer.answer(stream, b"the last here")
        await peer.ended()

    async with scripted_peer(leaving) as channel:
        for _ in range(3):
            assert await channel.unary("Act", b"") == b"the last here"


@in_event_loop
async def test_a_cancelled_call_is_reset_and_its_late_data_ignored() -> None:
    begun = asyncio.Event()

    async def late(peer: Peer) -> None:
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        begun.set()
        reset, _, payload = await peer.receive(FrameKind.RST_STREAM)
        assert (reset, number_in(payload)) == (stream, ErrorCode.CANCEL)
        await peer.answer(stream, b"late")
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        await peer.answer(stream, b"in time")

    async with scripted_peer(late) as channel:
        asking = asyncio.create_task(channel.unary("Act", b""))
        await begun.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert await channel.unary("Act", b"") == b"in time"


@in_event_loop
async def test_a_peer_can_send_at_most_a_window_ahead() -> None:
    async def eager(peer: Peer) -> None:
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        await peer.send(frame(FrameKind.HEADERS, END_HEADERS, stream, GOOD))
        for _ in range(5):
            await peer.send(frame(FrameKind.DATA, 0, stream, bytes(1 << 14)))
        await peer.ended()

    async with scripted_peer(eager) as channel:
        call = await channel.begin("Play")
        await wait_until_async(lambda: call.status is not None)
        assert call.status is not None
        assert call.status.code is StatusCode.UNAVAILABLE
        assert len(call._buffer) < 1 << 16


HEADED = frame(FrameKind.HEADERS, END_HEADERS, 1, GOOD)
ENDLESS = frame(FrameKind.HEADERS, 0, 1, GOOD)
BOMB = block([("a", "x" * 1000)]) * 16
BREAKS: dict[str, Sequence[bytes]] = {
    "no frames": [b"HTTP/1.1 400 Bad Request\r\n\r\n"],
    "a frame that is too large": [frame(FrameKind.DATA, 0, 1, bytes((1 << 14) + 1))],
    "data on a stream that was never opened": [frame(FrameKind.DATA, 0, 7, b"x")],
    "data on no stream": [frame(FrameKind.DATA, 0, 0, b"x")],
    "headers on a stream of its own": [frame(FrameKind.HEADERS, END_HEADERS, 2, GOOD)],
    "settings on a stream": [frame(FrameKind.SETTINGS, 0, 1)],
    "settings that are cut off": [frame(FrameKind.SETTINGS, 0, 0, bytes(5))],
    "settings that cannot be": [settings([(Http2Setting.MAX_FRAME_SIZE, 1)])],
    "windows that cannot be": [settings([(Http2Setting.INITIAL_WINDOW_SIZE, 1 << 31)])],
    "a window that overflows": [numbered(FrameKind.WINDOW_UPDATE, 1, (1 << 31) - 1)] * 2,
    "a wider window by nothing": [numbered(FrameKind.WINDOW_UPDATE, 0, 0)],
    "a push": [frame(FrameKind.PUSH_PROMISE, END_HEADERS, 1, bytes(4) + GOOD)],
    "a ping that is cut off": [frame(FrameKind.PING, 0, 0, b"x")],
    "a reset that is cut off": [frame(FrameKind.RST_STREAM, 0, 1, b"x")],
    "a farewell that is cut off": [frame(FrameKind.GOAWAY, 0, 0, b"x")],
    "more padding than payload": [HEADED, frame(FrameKind.DATA, PADDED, 1, b"\xff")],
    "headers that go on before they begin": [frame(FrameKind.CONTINUATION, END_HEADERS, 1, GOOD)],
    "something amid headers": [ENDLESS, frame(FrameKind.PING, 0, 0, bytes(8))],
    "invalid headers": [frame(FrameKind.HEADERS, END_HEADERS, 1, b"\xff" * 50)],
    "a table that changes its size for ever": [
        frame(FrameKind.HEADERS, END_HEADERS, 1, b"\x20" * 16_000 + GOOD)
    ],
    "headers again and again": [HEADED, *[frame(FrameKind.HEADERS, END_HEADERS, 1, GOOD)] * 9_999],
    "an integer without end": [
        frame(FrameKind.HEADERS, END_HEADERS, 1, b"\x7f" + b"\xff" * 16_000)
    ],
}
"""Byte sequences after which the client closes the connection."""
TOO_LONG: dict[str, Sequence[bytes]] = {
    "headers without end": [ENDLESS, *[frame(FrameKind.CONTINUATION, 0, 1, GOOD)] * 2_000],
    "headers that are too long": [frame(FrameKind.HEADERS, END_HEADERS, 1, BOMB)],
    "headers that are short as they are sent": [
        frame(
            FrameKind.HEADERS, END_HEADERS, 1, b"\x40\x01a\x7f\xe9\x06" + b"x" * 1000 + b"\xbe" * 20
        )
    ],
}


async def _after(frames: Sequence[bytes]) -> tuple[StatusCode, bool]:
    """Return the status of a call after these frames, and whether the connection was closed."""
    hung_up = asyncio.Event()

    async def hostile(peer: Peer) -> None:
        await peer.receive(FrameKind.HEADERS)
        try:
            await peer.send(*frames)
            await peer.ended()
        finally:
            hung_up.set()

    async with scripted_peer(hostile) as channel:
        code = await status_of(channel)
        await hung_up.wait()
        return code, channel.listening


@pytest.mark.parametrize("what", BREAKS)
def test_an_http2_violation_closes_the_connection(what: str) -> None:
    code, listening = asyncio.run(_after(BREAKS[what]))
    assert code in (
        StatusCode.UNAVAILABLE,
        StatusCode.CANCELLED,
        StatusCode.INTERNAL,
        StatusCode.RESOURCE_EXHAUSTED,
    )
    assert not listening


FLOODS: dict[str, bytes] = {
    "settings": SETTINGS,
    "pings": frame(FrameKind.PING, 0, 0, bytes(8)),
    "empty data": frame(FrameKind.DATA, 0, 1),
    "empty messages": frame(FrameKind.DATA, 0, 1, prefixed(b"")),
    "frames nobody knows": frame(FrameKind.PRIORITY, 0, 1, bytes(5)),
    "full settings": settings([(Http2Setting.MAX_CONCURRENT_STREAMS, 100)] * 2730),
    "window updates": numbered(FrameKind.WINDOW_UPDATE, 0, 1),
    "resets": numbered(FrameKind.RST_STREAM, 1, 8),
    "unknown frames": b"\0\0\0\xff\0\0\0\0\0",
}


@pytest.mark.parametrize("what", FLOODS)
@in_event_loop
async def test_a_flood_exceeds_the_budget_and_ends_the_connection(what: str) -> None:
    async def flooding(peer: Peer) -> None:
        await peer.receive(FrameKind.HEADERS)
        await peer.send(HEADED)
        while True:
            await peer.send(*[FLOODS[what]] * 200)

    async with scripted_peer(flooding) as channel:
        call = await channel.begin("Play")
        budget = channel._budget
        with suppress(BudgetExceeded):
            while await call.receive() is not None:
                budget.charge("empty messages", MESSAGE)
        while not budget.exceeded:
            await asyncio.sleep(0)
        assert budget.spent < START + 2 * SLICE_BYTES
        with pytest.raises((BudgetExceeded, CallFailed)):
            await channel.unary("Act", b"")


@pytest.mark.parametrize("what", FLOODS)
def test_the_cost_of_bytes_does_not_depend_on_their_chunks(what: str) -> None:
    data = SETTINGS + FLOODS[what] * 5
    costs = set()
    for size in (1, 7, 64, len(data)):
        budget = WorkBudget()
        reader = FrameReader(lambda kind, stream, flags, payload: None, budget)
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
        costs.add(round(budget.spent, 6))
    assert len(costs) == 1


@pytest.mark.parametrize("what", TOO_LONG)
def test_headers_above_the_limit_exhaust_resources(what: str) -> None:
    code, listening = asyncio.run(_after(TOO_LONG[what]))
    assert code is StatusCode.RESOURCE_EXHAUSTED
    assert not listening


ZERO = gzip.compress(bytes(2 * MESSAGE_BYTES))
PACKED = frame(
    FrameKind.HEADERS, END_HEADERS, 1, block([(":status", "200"), ("grpc-encoding", "gzip")])
)
ENDS: dict[str, tuple[StatusCode, Sequence[bytes]]] = {
    "no status": (StatusCode.UNKNOWN, [HEADED, trailers([("a", "b")])]),
    "no number": (StatusCode.UNKNOWN, [HEADED, trailers([("grpc-status", "ok")])]),
    "no known number": (StatusCode.UNKNOWN, [HEADED, trailers([("grpc-status", "77")])]),
    "no message": (StatusCode.INTERNAL, [HEADED, trailers([("grpc-status", "0")])]),
    "another page": (StatusCode.UNIMPLEMENTED, [trailers([(":status", "404")])]),
    "a busy page": (
        StatusCode.UNAVAILABLE,
        [frame(FrameKind.HEADERS, END_HEADERS, 1, block([(":status", "503")]))],
    ),
    "data before headers": (StatusCode.INTERNAL, [frame(FrameKind.DATA, 0, 1, b"x")]),
    "headers amid data": (StatusCode.INTERNAL, [HEADED, HEADED]),
    "the end amid data": (
        StatusCode.UNKNOWN,
        [HEADED, frame(FrameKind.DATA, END_STREAM, 1, b"\0")],
    ),
    "refused": (
        StatusCode.UNAVAILABLE,
        [numbered(FrameKind.RST_STREAM, 1, ErrorCode.REFUSED_STREAM)],
    ),
    "reset": (StatusCode.INTERNAL, [numbered(FrameKind.RST_STREAM, 1, ErrorCode.PROTOCOL_ERROR)]),
    "cancelled, with late credit": (
        StatusCode.CANCELLED,
        [
            numbered(FrameKind.RST_STREAM, 1, ErrorCode.CANCEL),
            numbered(FrameKind.WINDOW_UPDATE, 1, 1),
        ],
    ),
    "too large": (
        StatusCode.RESOURCE_EXHAUSTED,
        [HEADED, frame(FrameKind.DATA, 0, 1, b"\0" + (MESSAGE_BYTES + 1).to_bytes(4, "big"))],
    ),
    "packed, and too large": (
        StatusCode.RESOURCE_EXHAUSTED,
        [PACKED, frame(FrameKind.DATA, 0, 1, prefixed(ZERO, packed=True))],
    ),
    "packed, and not packed": (
        StatusCode.INTERNAL,
        [PACKED, frame(FrameKind.DATA, 0, 1, prefixed(b"nothing", packed=True))],
    ),
    "compressed, without a declared encoding": (
        StatusCode.INTERNAL,
        [HEADED, frame(FrameKind.DATA, 0, 1, prefixed(zlib.compress(b""), packed=True))],
    ),
}


@pytest.mark.parametrize("what", ENDS)
@in_event_loop
async def test_a_call_that_ends_badly_does_not_end_its_connection(what: str) -> None:
    code, frames = ENDS[what]

    async def bad(peer: Peer) -> None:
        await peer.receive(FrameKind.HEADERS)
        await peer.send(*frames)
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        await peer.answer(stream, b"well")

    async with scripted_peer(bad) as channel:
        assert await status_of(channel) is code
        assert await channel.unary("Act", b"") == b"well"


@in_event_loop
async def test_padding_and_priority_are_removed() -> None:
    async def padding(peer: Peer) -> None:
        stream, _, _ = await peer.receive(FrameKind.HEADERS)
        padded = b"\x03" + bytes(4) + b"\x10" + GOOD + bytes(3)
        await peer.send(
            frame(FrameKind.HEADERS, END_HEADERS | PADDED | 0x20, stream, padded),
            frame(FrameKind.DATA, PADDED, stream, b"\x02" + prefixed(b"well") + bytes(2)),
            frame(FrameKind.HEADERS, END_STREAM, stream, DONE[:3]),
            frame(FrameKind.CONTINUATION, END_HEADERS, stream, DONE[3:]),
        )

    async with scripted_peer(padding) as channel:
        assert await channel.unary("Act", b"") == b"well"


def test_a_header_block_does_not_change_its_reader() -> None:
    reader = HeaderReader()
    headers = {":path": "/a.Service/Act", "te": "trailers"}
    data = block(headers.items())
    assert [reader.read(1, data) for _ in range(3)] == [headers] * 3


def _random_frame(chance: random.Random) -> bytes:
    """Return a frame of any kind, whose payload is sometimes valid."""
    kind = chance.choice([*FrameKind, chance.randrange(256)])
    payload = chance.choice([GOOD, DONE, bytes(8), chance.randbytes(chance.randrange(40))])
    head = frame(FrameKind.DATA, chance.randrange(64), chance.choice([0, 1, 1, 3, 4]), payload)
    return head[:3] + bytes([kind]) + head[4:]


@in_event_loop
async def test_random_frames_end_a_call_with_a_status() -> None:
    chance = random.Random(20261122)
    ended: list[StatusCode] = []

    async def random_peer(peer: Peer) -> None:
        await peer.receive(FrameKind.HEADERS)
        await peer.send(*(_random_frame(chance) for _ in range(8)))

    async with scripted_peer(random_peer) as channel:
        while len(ended) < 300:
            # Each call makes a connection, which is charged to the questions.
            channel._budget.grant(1)
            ended.append(await status_of(channel))
    assert {StatusCode.UNAVAILABLE, StatusCode.INTERNAL} <= set(ended)


def test_random_header_bytes_are_headers_or_an_error() -> None:
    chance = random.Random(20261122)
    outcomes: dict[str, int] = {"headers": 0, "none": 0}
    for _ in range(3000):
        data = bytearray(GOOD + DONE) * chance.randrange(1, 4)
        for _ in range(chance.randrange(6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            HeaderReader().read(1, bytes(data[: chance.randrange(1, len(data) + 1)]))
            outcomes["headers"] += 1
        except (Http2Error, HeadersTooLong):
            outcomes["none"] += 1
    assert min(outcomes.values()) > 100

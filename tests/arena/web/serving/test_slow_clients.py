"""Clients that stop sending or reading are disconnected; others are served."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena.services import web_process
from arena.web import server
from tests.waiting import wait_until_async

LARGE = 8 * 2**20


async def answer(request: Request) -> Response:
    if request.query_params:
        await asyncio.sleep(0.4)
    return PlainTextResponse("x" * int(request.path_params["size"]))


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[int, uvicorn.Server]]:
    listening = web_process.listen("127.0.0.1", 0)
    app = Starlette(routes=[Route("/{size}", answer)])
    config = uvicorn.Config(
        app, http=server.TimeLimitedProtocol, log_level="critical", lifespan="off"
    )
    running = uvicorn.Server(config)
    task = asyncio.create_task(running.serve(sockets=[listening]))
    await wait_until_async(lambda: running.started)
    try:
        yield listening.getsockname()[1], running
    finally:
        running.should_exit = True
        await task


@pytest.fixture(autouse=True)
def _short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_HEAD_SECONDS", 0.2)
    monkeypatch.setattr(server, "UNREAD_RESPONSE_SECONDS", 0.2)


@pytest.mark.parametrize("begun", [b"", b"GET /1 HTT", b"GET /1 HTTP/1.1\r\nHost: x\r\nA: "])
def test_an_unfinished_request_is_disconnected(begun: bytes) -> None:
    async def page_request() -> bytes:
        async with serving() as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            try:
                return await reader.read()
            except ConnectionResetError:
                return b""
            finally:
                writer.close()

    assert asyncio.run(page_request()) == b""


def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def page_request() -> int:
        async with serving() as (port, running):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            connections = running.server_state.connections
            await wait_until_async(lambda: connections)
            writer.write(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % LARGE)
            await wait_until_async(lambda: not connections)
            got = 0
            try:
                while chunk := await reader.read(2**16):
                    got += len(chunk)
            except ConnectionResetError:
                pass
            finally:
                writer.close()
            return got

    assert asyncio.run(page_request()) < LARGE


def test_a_slow_response_keeps_the_connection_open() -> None:
    async def page_request() -> list[bytes]:
        async with serving() as (port, _):
            line = socket.create_connection(("127.0.0.1", port))
            # The server finds the first request when it accepts the connection, and the second when
            # it has sent the first response: a busy test does not seem to be a slow client.
            line.sendall(2 * b"GET /3?slow HTTP/1.1\r\nHost: x\r\n\r\n")
            reader, writer = await asyncio.open_connection(sock=line)
            seconds = []
            for _ in range(2):
                await reader.readuntil(b"\r\n\r\n")
                seconds.append(await reader.readexactly(3))
            writer.close()
            return seconds

    assert asyncio.run(page_request()) == [b"xxx", b"xxx"]

"""The referee's own gRPC client over HTTP/2, for one address.

It works with any gRPC server like grpc.aio, with about a third of the processor time per message
(docs/decisions/2026-11-22-own-http2-client.md). It does not support TLS, proxies or gRPC name
resolvers.
"""

import asyncio
from contextlib import suppress

from grpc import StatusCode

from referee.rpc.call import ENCODINGS, Call, CallFailed, Status
from referee.rpc.connection import Connection
from referee.rpc.http2 import block
from referee.rpc.sockets import connected
from referee.rpc.work_budget import CONNECTION, WorkBudget

SETTINGS_SECONDS = 5.0
"""Time limit in seconds of an attempt to connect; then another attempt follows."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.2

_NO_MESSAGE = Status(StatusCode.INTERNAL, "it returned no message")


class Channel:
    """Calls to the gRPC service at an address.

    Over a unix socket the authority is ``localhost``, because strict servers (Rust's tonic, .NET's
    Kestrel) reject a socket path there.

    Args:
        address: ``unix:/path``, ``unix-abstract:name`` or ``host:port``.
        service: full name of the service.
        budget: the work budget charged for the server's data.
    """

    def __init__(self, address: str, service: str, budget: WorkBudget) -> None:
        self._budget = budget
        self._address = address
        self._service = service
        self._blocks: dict[str, bytes] = {}
        self._connections: list[Connection] = []

    @property
    def listening(self) -> bool:
        """Return whether a connection is open and accepts calls."""
        return any(connection.takes_calls for connection in self._connections)

    async def unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """Call a method with one message and return its answer.

        Args:
            method: its name.
            message: the request.
            wait: whether to wait until a server listens.

        Raises:
            CallFailed: the call did not end with a message and the status OK.
            BudgetExceeded: the peer's data costs more than the rest of its budget.
        """
        call = await self.begin(method, wait)
        try:
            # the answer may arrive before the message is sent completely
            with suppress(CallFailed):
                await call.send(message, last=True)
            answer = await call.receive()
            while call.status is None:
                await call.receive()
        finally:
            call.cancel()
        if call.status.code is not StatusCode.OK:
            raise CallFailed(call.status)
        if answer is None:
            raise CallFailed(_NO_MESSAGE)
        return answer

    async def begin(self, method: str, wait: bool = False) -> Call:
        """Begin a call with any number of messages.

        Args:
            method: its name.
            wait: whether to wait until a server listens.

        Raises:
            CallFailed: no server listens.
        """
        headers = self._headers(method)
        pause = FIRST_PAUSE
        while True:
            try:
                return await (await self._connected()).begin(headers)
            except OSError as error:
                if not wait:
                    raise CallFailed(Status(StatusCode.UNAVAILABLE, str(error))) from None
            await asyncio.sleep(pause)
            pause = min(1.6 * pause, LONGEST_PAUSE)

    async def close(self) -> None:
        """Close the connections and wait until they are closed."""
        for connection in self._connections:
            connection.abort()
        await asyncio.gather(*(connection.lost for connection in self._connections))

    async def _connected(self) -> Connection:
        """Return the connection that accepts calls, or open a new one."""
        kept = [candidate for candidate in self._connections if not candidate.lost.done()]
        self._connections = kept
        if kept and kept[-1].takes_calls:
            return kept[-1]
        async with asyncio.timeout(SETTINGS_SECONDS):
            try:
                connection = await self._connect()
            except ValueError as error:  # a null byte, or an invalid host name
                raise OSError(str(error)) from None
            kept.append(connection)
            try:
                await connection.ready
            except BaseException:
                connection.abort()
                raise
        return connection

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        address = self._address
        self._budget.charge("connections", CONNECTION)
        if address.startswith("unix-abstract:"):
            path = "\0" + address.removeprefix("unix-abstract:")
            _, connection = await loop.create_unix_connection(self._connection, path)
        elif address.startswith("unix:"):
            path = address.removeprefix("unix:").removeprefix("//")
            # Connecting to a socket file does not block, unless its backlog is full.
            client = connected(path, timeout=0)
            _, connection = await loop.create_unix_connection(self._connection, sock=client)
        else:
            host, port = _host_and_port(address)
            _, connection = await loop.create_connection(self._connection, host, port)
        return connection

    def _connection(self) -> Connection:
        return Connection(self._budget)

    def _headers(self, method: str) -> bytes:
        header_block = self._blocks.get(method)
        if header_block is None:
            host = "localhost" if self._address.startswith("unix") else self._address
            header_block = self._blocks[method] = block(
                (
                    (":method", "POST"),
                    (":scheme", "http"),
                    (":path", f"/{self._service}/{method}"),
                    (":authority", host),
                    ("te", "trailers"),
                    ("content-type", "application/grpc"),
                    ("user-agent", "pokearena-referee"),
                    ("grpc-accept-encoding", ENCODINGS),
                )
            )
        return header_block


def _host_and_port(address: str) -> tuple[str, int]:
    """Split ``host:port`` or ``[::1]:port``."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 0xFFFF:
        raise OSError(f'"{address}" is not an address; write HOST:PORT')
    return host.removeprefix("[").removesuffix("]"), int(port)

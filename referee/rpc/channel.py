"""The way to a bot's address: gRPC calls over HTTP/2, by a client that is the referee's own.

It speaks to any gRPC server as grpc.aio does, at about a third of the processor's time a message
(docs/decisions.md). There is no TLS, no proxy and no name but a host's.
"""

import asyncio
from contextlib import suppress

from grpc import StatusCode

from referee.rpc.budget import CONNECTION, Budget
from referee.rpc.call import ENCODINGS, Call
from referee.rpc.connection import Connection
from referee.rpc.http2 import block
from referee.rpc.sockets import connected
from referee.rpc.status import CallFailed, Status

SETTINGS_SECONDS = 5.0
"""How long an attempt to connect may take; then another is made."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.2

_NO_MESSAGE = Status(StatusCode.INTERNAL, "it returned no message")


class Channel:
    """Calls to the gRPC service at an address.

    address: ``unix:/path``, ``unix-abstract:name`` or ``host:port``. Over a unix socket the host
    that is named is ``localhost``, for strict servers (Rust's tonic, .NET's Kestrel) refuse the
    path of a socket as one.
    """

    def __init__(self, address: str, service: str, budget: Budget) -> None:
        self._budget = budget
        self._address = address
        self._service = service
        self._blocks: dict[str, bytes] = {}
        self._connections: list[Connection] = []

    @property
    def listening(self) -> bool:
        """Whether somebody who speaks HTTP/2 is there."""
        return any(connection.takes_calls for connection in self._connections)

    async def unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """A call of one message and one answer.

        wait: until somebody listens; otherwise that nobody does is a failure.

        Raises:
            CallFailed: it did not end well.
            BudgetExceeded: the peer has sent more than its budget pays for.
        """
        call = await self.begin(method, wait)
        try:
            with suppress(CallFailed):  # it may have been answered before all was sent
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
        """Begins a call of any number of messages; ``wait`` as above.

        Raises:
            CallFailed: nobody listens.
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
        """Ends the connections."""
        for connection in self._connections:
            connection.abort()
        await asyncio.gather(*(connection.lost for connection in self._connections))

    async def _connected(self) -> Connection:
        """The connection that takes calls, or a new one.

        Raises:
            OSError: nobody listens, or what listens does not speak HTTP/2.
        """
        kept = [one for one in self._connections if not one.lost.done()]
        self._connections = kept
        if kept and kept[-1].takes_calls:
            return kept[-1]
        async with asyncio.timeout(SETTINGS_SECONDS):
            try:
                connection = await self._connect()
            except ValueError as error:  # a null byte, or a name no host can have
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
            # Connecting to a socket file succeeds or fails at once, unless its backlog is full.
            client = connected(path, timeout=0)
            _, connection = await loop.create_unix_connection(self._connection, sock=client)
        else:
            host, port = _host_and_port(address)
            _, connection = await loop.create_connection(self._connection, host, port)
        return connection

    def _connection(self) -> Connection:
        return Connection(self._budget)

    def _headers(self, method: str) -> bytes:
        found = self._blocks.get(method)
        if found is None:
            host = "localhost" if self._address.startswith("unix") else self._address
            found = self._blocks[method] = block(
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
        return found


def _host_and_port(address: str) -> tuple[str, int]:
    """The parts of ``host:port`` or ``[::1]:port``.

    Raises:
        OSError: it is no such address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 0xFFFF:
        raise OSError(f'"{address}" is no address; write HOST:PORT')
    return host.removeprefix("[").removesuffix("]"), int(port)

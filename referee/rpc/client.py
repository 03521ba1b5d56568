"""Interface of the referee's gRPC clients, and selection of an implementation."""

import os
from typing import Final, Protocol

from referee.rpc.call import Status
from referee.rpc.work_budget import WorkBudget

SETTING: Final = "POKEARENA_REFEREE_CLIENT"
"""Environment variable that selects the implementation."""
HTTP2: Final = "http2"
GRPCIO: Final = "grpcio"


class RpcStream(Protocol):
    """A call with any number of messages in both directions."""

    @property
    def status(self) -> Status | None:
        """Its final status; None while it is open."""

    async def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            CallFailed: the call is over.
        """

    async def receive(self) -> bytes | None:
        """Return the next message; None after the last one.

        Raises:
            CallFailed: the received data is not a valid message.
        """

    def finish(self) -> None:
        """End the messages of this side."""

    def cancel(self) -> None:
        """End the call."""


class RpcClient(Protocol):
    """Calls to the gRPC service at one address."""

    @property
    def listening(self) -> bool:
        """Return whether an HTTP/2 server responded at the address."""

    async def unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """Call a method with one message and return its answer.

        Args:
            method: its name.
            message: the request.
            wait: whether to wait until a server listens.

        Raises:
            CallFailed: it did not end with a message and the status OK.
            BudgetExceeded: the answer costs more than the bot's budget has left.
        """

    async def begin(self, method: str, wait: bool = False) -> RpcStream:
        """Begin a call with any number of messages.

        Raises:
            CallFailed: no server listens.
        """

    async def close(self) -> None:
        """End all calls and connections."""


def open_client(
    address: str, service: str, budget: WorkBudget, kind: str | None = None
) -> RpcClient:
    """Create a client for the service at an address; it connects at its first use.

    Args:
        address: ``unix:/path``, ``unix-abstract:name`` or ``host:port``.
        service: full name of the service.
        budget: the work budget charged for the server's data.
        kind: "http2" or "grpcio"; default: the environment variable, else "http2".

    Raises:
        ValueError: the kind is unknown.
    """
    kind = kind or os.environ.get(SETTING) or HTTP2
    # Imported on demand, because grpc.aio takes long to import.
    if kind == HTTP2:
        from referee.rpc.channel import Channel

        return Channel(address, service, budget)
    if kind == GRPCIO:
        from referee.rpc.grpcio import GrpcioClient

        return GrpcioClient(address, service, budget)
    raise ValueError(f'{SETTING} is "{kind}"; it must be {HTTP2} or {GRPCIO}.')

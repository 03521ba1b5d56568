"""gRPC client based on ``grpc.aio``, an alternative to the project's own client.

It is slower, but an independent implementation. gRPC's C core parses frames and headers with its
own limits, so the budget is charged only for messages.
"""

import asyncio

import grpc
import grpc.aio
from grpc import StatusCode

from referee.rpc.call import MESSAGE_BYTES, CallFailed, Status
from referee.rpc.http2 import HEADERS_BYTES
from referee.rpc.sockets import opened
from referee.rpc.work_budget import FRAME, WorkBudget

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_metadata_size", HEADERS_BYTES),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.use_local_subchannel_pool", 1),
    # As the client of `referee.rpc.channel`, which uses no proxy.
    ("grpc.enable_http_proxy", 0),
)


class GrpcioStream:
    """A call that has begun."""

    def __init__(self, call: "grpc.aio.StreamStreamCall[bytes, bytes]", budget: WorkBudget) -> None:
        self.status: Status | None = None
        self._call = call
        self._budget = budget
        self._finishing: asyncio.Future[None] | None = None

    async def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            CallFailed: the call is over.
        """
        try:
            await self._call.write(message)
        except (grpc.aio.AioRpcError, grpc.aio.UsageError):
            raise CallFailed(await self._end()) from None

    async def receive(self) -> bytes | None:
        """Return the next message, None after the last one."""
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError:
            message = grpc.aio.EOF
        if message is grpc.aio.EOF:
            await self._end()
            return None
        self._budget.charge("messages", FRAME)
        assert isinstance(message, bytes)
        return message

    async def _end(self) -> Status:
        self.status = Status(await self._call.code(), await self._call.details() or "")
        return self.status

    def finish(self) -> None:
        """End the messages of this side."""
        self._finishing = asyncio.ensure_future(self._call.done_writing())

    def cancel(self) -> None:
        """End the call."""
        self._call.cancel()


class GrpcioClient:
    """Calls to the gRPC service at one address; see `referee.rpc.client.RpcClient`."""

    def __init__(self, address: str, service: str, budget: WorkBudget) -> None:
        self._address = address
        self._service = service
        self._budget = budget
        options = list(_OPTIONS)
        if address.startswith("unix"):
            options.append(("grpc.default_authority", "localhost"))  # type: ignore[arg-type]
        self._channel = grpc.aio.insecure_channel(address, options=options)

    @property
    def listening(self) -> bool:
        """Return whether the channel is connected to a server."""
        return self._channel.get_state() is grpc.ChannelConnectivity.READY

    async def unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """Call a method with one message and return its answer."""
        self._check(wait)
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(
            f"/{self._service}/{method}"
        )
        try:
            answer = await call(message, wait_for_ready=wait)
        except grpc.aio.AioRpcError as error:
            raise CallFailed(Status(error.code(), error.details() or "")) from None
        self._budget.charge("messages", FRAME)
        assert isinstance(answer, bytes)
        return answer

    async def begin(self, method: str, wait: bool = False) -> GrpcioStream:
        """Begin a call with any number of messages."""
        self._check(wait)
        call: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = self._channel.stream_stream(
            f"/{self._service}/{method}"
        )
        return GrpcioStream(call(wait_for_ready=wait), self._budget)

    def _check(self, wait: bool) -> None:
        """Reject a socket file that is not the bot's, because gRPC itself would follow a link."""
        if self._address.startswith("unix:") and not wait:
            try:
                with opened(self._address.removeprefix("unix:").removeprefix("//")):
                    pass
            except OSError as error:
                raise CallFailed(Status(StatusCode.UNAVAILABLE, str(error))) from None

    async def close(self) -> None:
        """End all calls and connections."""
        await self._channel.close()

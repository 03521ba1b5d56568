"""Serve a bot that reads and writes lines as a gRPC bot: the lines, the program, the service."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import grpc
import grpc.aio
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.stdio import program_lines
from arena.bots.stdio.program_lines import Malformed, ParsedAnswer

MAX_LINE_BYTES: Final = 1 << 20
"""Maximum length of a line in bytes; a longer one is passed on in pieces."""
LOG: Final = 2
_OPTIONS: Final = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]


class Splitter:
    """Splits bytes into lines and buffers the incomplete last line."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._is_rest = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the lines completed by `data`, each with whether it continues a longer line."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            yield self._take(line), self._is_rest
            self._is_rest = False
        if rest:
            self._held.append(rest)
            self._size += len(rest)
        if self._size > MAX_LINE_BYTES:
            yield self._take(b""), self._is_rest
            self._is_rest = True

    def rest(self) -> bytes:
        """Return the text after the last line end."""
        return self._take(b"")

    def _take(self, end: bytes) -> bytes:
        line = b"".join((*self._held, end))
        self._held.clear()
        self._size = 0
        return line


@dataclass(slots=True)
class _PendingLine:
    name: str
    question: tuple[int, int, int] | None
    understand: Callable[[ParsedAnswer], Any]
    answer: asyncio.Future[Any]
    """Cancelled if the call has ended; the program must answer the line all the same."""


class Program(asyncio.Protocol):
    """Sends lines to the program and assigns its answers to them.

    Every line sent requires one line in answer. An answer that contains game and decision belongs
    to that question, any other to the oldest pending line. A late answer is thus not taken for the
    answer to the next question.
    """

    def __init__(self, gone: Callable[[], None]) -> None:
        self._gone = gone
        self._splitter = Splitter()
        self._open: list[_PendingLine] = []
        self._unrequested = ""
        self._is_over = False
        self._input: asyncio.WriteTransport | None = None

    async def connect_pipes(self, input_end: int, output_end: int) -> None:
        """Connect to the pipes of the program.

        Args:
            input_end: descriptor for writing to the program's input.
            output_end: descriptor for reading the program's output.
        """
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: self, os.fdopen(output_end, "rb", 0))
        self._input, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(input_end, "wb", 0)
        )

    async def ask(
        self,
        line: bytes,
        name: str,
        understand: Callable[[ParsedAnswer], Any],
        question: tuple[int, int, int] | None = None,
    ) -> Any:
        """Send a line and wait for its answer.

        Args:
            line: the line to send.
            name: its name in the log.
            understand: converts the answer to the result; may raise Malformed.
            question: game, decision and attempt, for a question.

        Raises:
            Malformed: the answer is not valid, or an unrequested answer was received before.
        """
        if self._unrequested:
            unrequested, self._unrequested = self._unrequested, ""
            raise Malformed(f"it had sent the answer {unrequested} without a question")
        answer = asyncio.get_running_loop().create_future()
        self._open.append(_PendingLine(name, question, understand, answer))
        self._write(line)
        return await answer

    def end(self, line: bytes) -> None:
        """Send the last line and close the program's input; its answer is ignored."""
        self._is_over = True
        unread = asyncio.get_running_loop().create_future()
        unread.add_done_callback(asyncio.Future.exception)
        self._open.append(_PendingLine("end", None, lambda answer: answer, unread))
        self._write(line)
        if self._input is not None:
            self._input.close()

    def data_received(self, data: bytes) -> None:
        """Process output of the program: answers, or text for the log."""
        for line, is_rest in self._splitter.feed(data):
            if is_rest or not program_lines.is_answer(line):
                os.write(LOG, line + b"\n")
            else:
                self._receive(line)

    def connection_lost(self, error: Exception | None) -> None:
        """Log the rest of the output and exit: the program has closed its output."""
        if rest := self._splitter.rest():
            os.write(LOG, rest + b"\n")
        self._gone()

    def _write(self, line: bytes) -> None:
        assert self._input is not None
        self._input.write(line)

    def _receive(self, line: bytes) -> None:
        parsed: ParsedAnswer | None = None
        failure: Malformed | None = None
        try:
            if len(line) > MAX_LINE_BYTES:
                raise Malformed(f"its line is longer than {MAX_LINE_BYTES} bytes")
            parsed = program_lines.read(line)
        except Malformed as malformed:
            failure = malformed
        pending = self._take_pending(parsed.question if parsed is not None else None)
        if pending is None:
            self._note(f"no question is open for the answer {program_lines.shown(line)}")
            if not self._is_over:
                self._unrequested = self._unrequested or program_lines.shown(line)
        elif pending.answer.done():
            self._note(f"too late: the answer {program_lines.shown(line)} to {pending.name}")
        elif failure is not None:
            pending.answer.set_exception(failure)
        elif parsed is not None:
            self._settle(pending, parsed)

    def _settle(self, pending: _PendingLine, parsed: ParsedAnswer) -> None:
        try:
            pending.answer.set_result(pending.understand(parsed))
        except Malformed as failure:
            pending.answer.set_exception(failure)

    def _take_pending(self, question: tuple[int, int, int] | None) -> _PendingLine | None:
        """Remove and return the pending line that an answer belongs to."""
        for number, pending in enumerate(self._open):
            if question is None or pending.question == question:
                return self._open.pop(number)
        return None

    def _note(self, sentence: str) -> None:
        os.write(LOG, f"[stdio] {sentence}\n".encode())


class LineBotService(bot_pb2_grpc.BotServiceServicer):
    """gRPC service for the program: one question per call; ``Play`` is not implemented."""

    def __init__(self, program: Program) -> None:
        self._program = program

    async def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        line = program_lines.start_line(request)
        answer: bot_pb2.StartResponse = await self._ask(
            context, line, "start", program_lines.start_response
        )
        return answer

    async def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        answer: bot_pb2.ActResponse = await self._ask(
            context,
            program_lines.act_line(request),
            f"game {request.game}, decision {request.decision}",
            lambda answer: program_lines.act_response(answer, request),
            (request.game, request.decision, request.attempt),
        )
        return answer

    async def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self._program.end(program_lines.end_line(request))
        return bot_pb2.EndResponse()

    async def _ask(self, context: Any, *question: Any) -> Any:
        try:
            return await self._program.ask(*question)
        except Malformed as malformed:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(malformed))


def run(address: str, input_end: int, output_end: int) -> None:
    """Serve until the program closes its output, then end this process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # These signals are meant for the program, which may still write output.
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(_serve(address, input_end, output_end))


async def _serve(address: str, input_end: int, output_end: int) -> None:
    # Exiting closes all connections, as with any bot whose process ends.
    program = Program(gone=lambda: os._exit(0))
    await program.connect_pipes(input_end, output_end)
    server = grpc.aio.server(options=_OPTIONS)
    bot_pb2_grpc.add_BotServiceServicer_to_server(LineBotService(program), server)
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()

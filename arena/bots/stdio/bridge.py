"""The gRPC side of a bot that reads and writes lines."""

import asyncio
import os
import signal
from typing import Any, Final

import grpc
import grpc.aio
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.stdio import lines
from arena.bots.stdio.program import Program

_OPTIONS: Final = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]


class Service(bot_pb2_grpc.BotServiceServicer):
    """The program as the referee asks it: one question a call; there is no ``Play``."""

    def __init__(self, program: Program) -> None:
        self._program = program

    async def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        line = lines.start_line(request)
        answer: bot_pb2.StartResponse = await self._ask(context, line, "start", lines.started)
        return answer

    async def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        answer: bot_pb2.ActResponse = await self._ask(
            context,
            lines.act_line(request),
            f"game {request.game}, decision {request.decision}",
            lambda said: lines.answer(said, request),
            (request.game, request.decision),
        )
        return answer

    async def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self._program.end(lines.end_line(request))
        return bot_pb2.EndResponse()

    async def _ask(self, context: Any, *question: Any) -> Any:
        try:
            return await self._program.ask(*question)
        except lines.Malformed as malformed:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(malformed))


def run(address: str, input_end: int, output_end: int) -> None:
    """Serves until the program writes nothing any more; ends this process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # They are meant for the program, which may have last words.
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(_serve(address, input_end, output_end))


async def _serve(address: str, input_end: int, output_end: int) -> None:
    # Whoever is connected sees the connection lost, as with any bot whose process ends.
    program = Program(gone=lambda: os._exit(0))
    await program.listen_and_speak(input_end, output_end)
    server = grpc.aio.server(options=_OPTIONS)
    bot_pb2_grpc.add_BotServiceServicer_to_server(Service(program), server)
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()

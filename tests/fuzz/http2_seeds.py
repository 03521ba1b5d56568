"""Write the seeds of the HTTP/2 fuzzer: recorded conversations, and a malformed frame of each type.

    uv run python -m tests.fuzz.http2_seeds FOLDER

The conversations are those of the Python kit and of a bot with ``Act`` alone, over a proxy that
records what the bot sends. Their names give the questions of each message.
"""

import argparse
import asyncio
import gzip
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pokearena.v1 import bot_pb2

from bench.processes import started
from referee.rpc.http2 import (
    END_HEADERS,
    END_STREAM,
    PADDED,
    PRIORITY_GIVEN,
    FrameKind,
    Http2Setting,
    block,
    frame,
    numbered,
    settings,
)
from referee.tables.bot_client import BotClient
from tests.fuzz.http2_target import SHAPES, Chunk, Options, ServerAction, encoded, questions
from tests.referee.peers import DONE, GOOD, SETTINGS, prefixed
from tests.waiting import wait_until_async

SECONDS = 30.0
"""Time limit of Start and of each message of a recording."""

OPENING = [
    Chunk(ServerAction.SEND, 0, SETTINGS),
    Chunk(
        ServerAction.SEND,
        0,
        frame(FrameKind.HEADERS, END_HEADERS, 1, GOOD)
        + frame(FrameKind.DATA, 0, 1, prefixed(b""))
        + frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, 1, DONE),
    ),
    Chunk(ServerAction.SEND, 0, frame(FrameKind.HEADERS, END_HEADERS, 3, GOOD)),
]
"""A valid beginning: Start is answered, and the stream Play has begun."""
ANSWER = bot_pb2.PlayResponse(answers=[bot_pb2.ActResponse()]).SerializeToString()

MALFORMED = {
    "data-padding": frame(FrameKind.DATA, PADDED, 3, b"\xff" + prefixed(ANSWER)),
    "data-too-long": frame(FrameKind.DATA, 0, 3, b"\x00\xff\xff\xff\xff" + ANSWER),
    "data-not-compressed": frame(FrameKind.DATA, 0, 3, prefixed(ANSWER, packed=True)),
    "headers-index": frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, 3, b"\xff\xff\x7f"),
    "headers-priority": frame(FrameKind.HEADERS, END_HEADERS | PRIORITY_GIVEN, 3, b"\x00"),
    "priority": frame(FrameKind.PRIORITY, 0, 0, bytes(5)),
    "rst-stream": frame(FrameKind.RST_STREAM, 0, 3, b"\x00"),
    "settings-length": frame(FrameKind.SETTINGS, 0, 0, bytes(5)),
    "settings-window": settings([(Http2Setting.INITIAL_WINDOW_SIZE, 1 << 31)]),
    "push-promise": frame(FrameKind.PUSH_PROMISE, END_HEADERS, 3, bytes(4) + GOOD),
    "ping": frame(FrameKind.PING, 0, 0, bytes(7)),
    "goaway": frame(FrameKind.GOAWAY, 0, 0, bytes(6)),
    "window-update": numbered(FrameKind.WINDOW_UPDATE, 3, 0),
    "continuation": frame(FrameKind.CONTINUATION, END_HEADERS, 3, DONE),
    "unknown": b"\xff\xff\xff\x20\x00\x00\x00\x00\x03",
}
"""Invalid frames, which a client must refuse, by the names of their files."""

FLOODS = {
    "pings": (OPENING[0].data + frame(FrameKind.PING, 0, 0, bytes(8)), ServerAction.REPEAT, 13),
    "settings": (settings([(Http2Setting.MAX_FRAME_SIZE, 1 << 14)] * 100), ServerAction.REPEAT, 9),
    "frame-too-large": (frame(FrameKind.DATA, 0, 3, bytes(1 << 20))[:64], ServerAction.REPEAT, 12),
}
"""Bytes, action and amount of a chunk that follows `OPENING`."""


COMPRESSED = frame(
    FrameKind.HEADERS,
    END_HEADERS | PRIORITY_GIVEN,
    3,
    bytes(5) + block([(":status", "200"), ("grpc-encoding", "gzip")]),
)
LONG_HEADER = b"\x40\x01a\x7f\x81\x07" + b"b" * 1024
"""A header of 1,024 bytes that enters the table of headers (RFC 7541, section 6.2.1)."""
DATA = frame(FrameKind.DATA, 0, 3, bytes(250))


def seeds() -> dict[str, bytes]:
    """Return the inputs that do not need a bot, by the names of their files."""
    options = Options(True, SHAPES[0], False)
    inputs = {
        f"malformed-{name}": encoded(options, [*OPENING, Chunk(ServerAction.SEND, 0, data)])
        for name, data in MALFORMED.items()
    }
    for name, (data, action, amount) in FLOODS.items():
        inputs[f"flood-{name}"] = encoded(options, [*OPENING, Chunk(action, amount, data)])
    for name, message in (("compressed", ANSWER), ("compressed-too-large", bytes(2 << 20))):
        data = frame(FrameKind.DATA, 0, 3, prefixed(gzip.compress(message, mtime=0), packed=True))
        inputs[name] = encoded(
            options,
            [*OPENING[:2], _send(COMPRESSED), _send(data)],
        )
    return inputs | _header_seeds(options) | _flow_control_seeds(options)


def _send(data: bytes) -> Chunk:
    return Chunk(ServerAction.SEND, 0, data)


def _header_seeds(options: Options) -> dict[str, bytes]:
    """Return inputs with headers beyond the limits, compressed and uncompressed."""
    begun = _send(frame(FrameKind.HEADERS, 0, 3, GOOD))
    more = Chunk(ServerAction.REPEAT, 6, frame(FrameKind.CONTINUATION, 0, 3, bytes(256)))
    unpacked = frame(FrameKind.HEADERS, END_HEADERS, 3, LONG_HEADER + b"\xbe" * 16)
    updates = frame(FrameKind.HEADERS, END_HEADERS, 3, b"\x20" * 3 + GOOD)
    return {
        "headers-packed-too-long": encoded(options, [*OPENING[:2], begun, more]),
        "headers-unpacked-too-long": encoded(options, [*OPENING[:2], _send(unpacked)]),
        "headers-table-updates": encoded(options, [*OPENING[:2], _send(updates)]),
    }


def _flow_control_seeds(options: Options) -> dict[str, bytes]:
    """Return inputs that reach the windows of calls and connections, and unread replies."""
    large = Options(True, SHAPES[2], True)
    many = Options(True, SHAPES[4], False)
    begun = _send(frame(FrameKind.DATA, 0, 3, b"\x00" + (1 << 20).to_bytes(4, "big")))
    too_large = _send(frame(FrameKind.DATA, 0, 3, b"\x00" + (1 << 21).to_bytes(4, "big")))
    kilobyte = frame(FrameKind.DATA, 0, 3, bytes(1024))
    pings = Chunk(ServerAction.REPEAT, 12, frame(FrameKind.PING, 0, 0, bytes(8)))
    updates = [numbered(FrameKind.WINDOW_UPDATE, stream, 1 << 20) for stream in (0, 3)]
    window = Chunk(ServerAction.READ, 0, b"".join(updates))
    return {
        "large-message": encoded(
            options, [*OPENING, begun, *[Chunk(ServerAction.REPEAT, 7, DATA)] * 18]
        ),
        "message-too-large": encoded(
            many, [*OPENING, too_large, *[Chunk(ServerAction.REPEAT, 8, DATA)] * 18]
        ),
        "window-exceeded": encoded(
            large, [*OPENING, *[Chunk(ServerAction.REPEAT, 8, kilobyte)] * 5]
        ),
        "stall-and-read": encoded(
            large, [*OPENING, Chunk(ServerAction.STALL, 0, b""), pings, window]
        ),
        "stall-forever": encoded(
            many, [*OPENING, Chunk(ServerAction.STALL, 0, b""), *[pings] * 20]
        ),
    }


async def recorded(address: str, options: Options) -> bytes:
    """Record a conversation with the bot at a Unix address; return the input that repeats it."""
    chunks: list[Chunk] = []
    path = address.removeprefix("unix:")
    await wait_until_async(lambda: os.path.exists(path))

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        bot_reader, bot_writer = await asyncio.open_unix_connection(path)
        sending = asyncio.create_task(_copy(reader, bot_writer, []))
        await _copy(bot_reader, writer, chunks)
        await sending

    with TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(forward, f"{folder}/proxy")
        bot = BotClient(f"unix:{folder}/proxy")
        if options.start:
            await bot.start(bot_pb2.StartRequest(match="m", game="poke", seats=2), SECONDS)
        for message in questions(options):
            await bot.ask(message, [], SECONDS)
        await bot.end("m")
        await bot.close()
        server.close()
        await asyncio.sleep(0.1)
    return encoded(options, chunks)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chunks: list[Chunk]
) -> None:
    """Forward bytes and record each piece, until one side closes its connection."""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            chunks.append(Chunk(ServerAction.SEND, 0, data))
            writer.write(data)
            await writer.drain()
    writer.close()


def recordings() -> dict[str, bytes]:
    """Return the conversations with real bots, by the names of their files."""
    with started(["bot.py", "act"], ["bot.py", "play", "4"]) as (act, play):
        return {
            name: asyncio.run(recorded(address, options))
            for name, address, options in (
                ("act-1-1-1-1-1", act, Options(True, SHAPES[3], False)),
                ("play-1-2-1", play, Options(True, SHAPES[1], False)),
                ("play-1-1-1-1-1", play, Options(True, SHAPES[3], False)),
                ("play-3-3-large", play, Options(True, SHAPES[2], True)),
            )
        }


def main() -> None:
    """Write all seeds into the folder of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    inputs = {**seeds(), **recordings()}
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    print(f"{len(inputs)} seeds written to {folder}")


if __name__ == "__main__":
    main()

"""Fuzz the referee's HTTP/2 client, guided by coverage.

    uv run --group fuzz python -m tests.fuzz.http2_fuzzer CORPUS_FOLDER -atheris_runs=N

The options are those of libFuzzer (https://llvm.org/docs/LibFuzzer.html): -max_total_time=SECONDS,
-seed=N, -merge=1 TARGET_FOLDER SOURCE_FOLDER. `-help=1` prints them all. An input that fails is
written to ./crash-HASH; `tests.fuzz.http2_target` describes the format. scripts/fuzz runs this.
"""

import argparse
import random
import sys
from dataclasses import dataclass, replace
from typing import Final

import atheris

with atheris.instrument_imports(include=["referee.rpc", "hpack"]):
    from referee.rpc.http2 import HEAD_BYTES, FrameKind, frame, head_at
    from tests.fuzz.http2_target import Chunk, ServerAction, decoded, drive, encoded

DEFAULTS: Final = {"-max_len": 8192, "-timeout": 20, "-rss_limit_mb": 1024}
"""Options of libFuzzer that apply unless the command line has others."""
PLAIN_SHARE: Final = 0.3
"""Share of libFuzzer's own mutations, which do not follow the format."""


@dataclass(slots=True)
class Frame:
    """A frame of a chunk. Its length is computed when it is written."""

    kind: int
    flags: int
    stream: int
    payload: bytes

    def encoded(self) -> bytes:
        """Return the bytes of the frame, whose type need not be one of `FrameKind`."""
        data = bytearray(frame(FrameKind.DATA, self.flags, self.stream, self.payload))
        data[3] = self.kind
        return bytes(data)


def frames_of(data: bytes) -> tuple[list[Frame], bytes]:
    """Return the whole frames at the beginning of a chunk, and the bytes after them."""
    frames, at = [], 0
    while len(data) - at >= HEAD_BYTES:
        length, kind, flags, stream = head_at(data, at)
        after = at + HEAD_BYTES + length
        if after > len(data):
            break
        frames.append(Frame(kind, flags, stream, data[at + HEAD_BYTES : after]))
        at = after
    return frames, data[at:]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change an input as libFuzzer does, or chunk by chunk and frame by frame.

    Frames keep the length of their payload, so that the client reads most inputs to the end.
    """
    rng = random.Random(seed)
    if rng.random() < PLAIN_SHARE:
        return bytes(atheris.Mutate(data, max_size))
    options, chunks = decoded(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not chunks or rng.random() < 0.25:
            _change_chunks(rng, chunks)
        else:
            chunk = rng.choice(chunks)
            frames, rest = frames_of(chunk.data)
            _change_frames(rng, frames)
            chunk.data = b"".join([each.encoded() for each in frames]) + rest
    return encoded(options, chunks)[:max_size]


def _change_chunks(rng: random.Random, chunks: list[Chunk]) -> None:
    """Insert, remove, move, split or join chunks, or change what the server does with one."""
    at = rng.randrange(len(chunks) + 1)
    if at == len(chunks):
        chunks.append(Chunk(ServerAction.SEND, 0, _some_frame(rng).encoded()))
        return
    chunk = chunks[at]
    match rng.randrange(6):
        case 0:
            del chunks[at]
        case 1:
            chunks.insert(rng.randrange(len(chunks)), Chunk(chunk.action, chunk.amount, chunk.data))
        case 2:
            chunks.insert(rng.randrange(len(chunks)), chunks.pop(at))
        case 3:
            cut = rng.randrange(len(chunk.data) + 1)
            chunks.insert(at + 1, Chunk(ServerAction.SEND, 0, chunk.data[cut:]))
            chunk.data = chunk.data[:cut]
        case 4 if at + 1 < len(chunks):
            chunk.data += chunks.pop(at + 1).data
        case _:
            chunk.action, chunk.amount = rng.choice(list(ServerAction)), rng.randrange(32)


def _change_frames(rng: random.Random, frames: list[Frame]) -> None:
    """Insert, remove or move frames, or change a part of one."""
    at = rng.randrange(len(frames) + 1)
    if at == len(frames):
        frames.append(_some_frame(rng))
        return
    chosen = frames[at]
    match rng.randrange(14):
        case 0:
            del frames[at]
        case 1:
            frames.insert(rng.randrange(len(frames)), replace(chosen))
        case 2:
            frames.insert(rng.randrange(len(frames)), frames.pop(at))
        case 3:
            frames.insert(at, _some_frame(rng))
        case 4:
            chosen.flags ^= 1 << rng.choice((0, 2, 3, 5))
        case 5:
            chosen.kind = rng.randrange(11)
        case 6:
            chosen.stream = _some_stream(rng)
        case _:
            chosen.payload = bytes(atheris.Mutate(chosen.payload, len(chosen.payload) + 64))


def _some_stream(rng: random.Random) -> int:
    return rng.choice((0, 1, 3, 3, 5, 7, 9, 2, (1 << 31) - 1))


def _some_frame(rng: random.Random) -> Frame:
    """Return a frame of a type with random numbers and a valid length."""
    kind = rng.choice(list(FrameKind))
    sizes = {FrameKind.SETTINGS: 6, FrameKind.PING: 8, FrameKind.GOAWAY: 8, FrameKind.PRIORITY: 5}
    size = sizes.get(kind, 4)
    stream = (
        0 if kind in (FrameKind.SETTINGS, FrameKind.PING, FrameKind.GOAWAY) else _some_stream(rng)
    )
    payload = rng.choice((bytes(size), rng.randbytes(size), bytes(size - 1) + b"\x01"))
    if kind == FrameKind.SETTINGS:
        value = rng.choice((0, 1, 1 << 14, (1 << 31) - 1, rng.getrandbits(32)))
        payload = rng.randrange(1, 7).to_bytes(2, "big") + value.to_bytes(4, "big")
    return Frame(kind, rng.choice((0, 0, 1, 4, 5)), stream, payload)


def main() -> None:
    """Run libFuzzer with the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="*", help="corpus folders; new inputs go to the first")
    parser.add_argument("-OPTION=VALUE", dest="options", help="an option of libFuzzer")
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        parser.parse_args(arguments)
    for name, value in DEFAULTS.items():
        if not any(argument.startswith(f"{name}=") for argument in arguments):
            arguments.append(f"{name}={value}")
    # For -merge=1, libFuzzer starts the program again by its first argument, with a shell.
    program = f"{sys.executable} -m {__spec__.name}"
    atheris.Setup([program, *arguments], drive, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

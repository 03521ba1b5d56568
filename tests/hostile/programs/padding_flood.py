"""Sends DATA frames that contain only padding, without end."""

from flood import PLAY, frame, serve

HEADED = frame(1, 0x4, PLAY, b"\x88")
serve(HEADED + frame(0, 0x8, PLAY, bytes([255]) + bytes(255)) * 1000)

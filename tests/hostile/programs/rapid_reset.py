"""Resets the stream of every call and goes on resetting"""

from flood import PLAY, frame, serve

serve(frame(3, 0, PLAY, b"\x00\x00\x00\x08"))

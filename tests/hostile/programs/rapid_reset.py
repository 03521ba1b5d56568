"""Resets the stream of every call and continues to send resets."""

from flood import PLAY, frame, serve

serve(frame(3, 0, PLAY, b"\x00\x00\x00\x08"))

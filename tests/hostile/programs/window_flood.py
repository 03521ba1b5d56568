"""Sends WINDOW_UPDATE frames without end."""

from flood import frame, serve

serve(frame(8, 0, 0, b"\x00\x00\x00\x01"))

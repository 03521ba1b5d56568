"""Sends PING frames without end and does not read the answers."""

from flood import frame, serve

serve(frame(6, 0, 0, bytes(8)))

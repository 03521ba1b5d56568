"""Sends PING frames without end and reads the answers."""

from flood import frame, serve

serve(frame(6, 0, 0, bytes(8)), read=True)

"""Sends GOAWAY frames without end and keeps the connection."""

from flood import frame, serve

serve(frame(7, 0, 0, bytes(4) + b"\xff\xff\xff\xff"[:0] + bytes(4)))

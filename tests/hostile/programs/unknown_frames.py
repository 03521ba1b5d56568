"""Sends frames of an unknown HTTP/2 type, without end."""

from flood import frame, serve

serve(frame(0xFA, 0, 0, b"x"))

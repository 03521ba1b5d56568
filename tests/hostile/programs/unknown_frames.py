"""Sends frames of a type that HTTP/2 does not have, without end"""

from flood import frame, serve

serve(frame(0xFA, 0, 0, b"x"))

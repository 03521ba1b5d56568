"""Sends empty DATA frames without end."""

from flood import PLAY, frame, serve

serve(frame(0, 0, PLAY))

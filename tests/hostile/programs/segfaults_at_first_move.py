"""Exits with a segmentation fault at the first question."""

import ctypes

from honest import play

play(lambda turn: ctypes.string_at(0))

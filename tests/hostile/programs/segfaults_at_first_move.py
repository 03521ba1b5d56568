"""Dies of a memory fault when it is asked for the first time."""

import ctypes

from honest import play

play(lambda turn: ctypes.string_at(0))

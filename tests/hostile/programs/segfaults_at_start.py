"""Dies of a memory fault before it listens."""

import ctypes

ctypes.string_at(0)

"""Exits with a segmentation fault before it listens."""

import ctypes

ctypes.string_at(0)

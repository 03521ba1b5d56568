"""Segfaults at the last decision of a deal, with one card left in its hand."""

import ctypes

from honest import play

play(lambda turn: ctypes.string_at(0) if len(turn.view.poke.hand) == 1 else None)

"""Exits at the last decision of a deal, with one card left in its hand."""

import os

from honest import play

play(lambda turn: os._exit(3) if len(turn.view.poke.hand) == 1 else None)

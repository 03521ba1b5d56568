"""Ends when it is asked for the first time."""

import os

from honest import play

play(lambda turn: os._exit(3))

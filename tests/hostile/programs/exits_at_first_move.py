"""Exits at the first question."""

import os

from honest import play

play(lambda turn: os._exit(3))

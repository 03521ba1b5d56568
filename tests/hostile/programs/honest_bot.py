"""Plays at random, and does nothing else."""

from honest import play

play()

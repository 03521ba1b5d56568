"""Plays at random without a hostile act."""

from honest import play

play()

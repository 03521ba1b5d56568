"""Plays the tables of one match against a referee.

`arena.match.runner.play_match` does it; the record of a match is made by `arena.match.record`.
"""

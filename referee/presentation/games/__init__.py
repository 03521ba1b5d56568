"""Presentation of each game, in the module with the game's id.

Uses the rules and the modules of `referee.presentation`, whose `registry` finds a module by name.
"""

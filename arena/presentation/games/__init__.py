"""Presentation of each game, in the module with the game's id.

Uses the modules of `arena.presentation` and the rules. `arena.presentation.registry` finds a module
by its name.
"""

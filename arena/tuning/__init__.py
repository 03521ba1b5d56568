"""Tune the parameters of a bot by SPSA: perturbed copies of the bot play each other.

Uses `arena.matches` for local matches and `arena.tournaments` for the settings of games. Only the
command `pokearena tune` uses it.
"""

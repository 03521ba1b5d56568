"""Tune the parameters of a bot by SPSA: perturbed copies of the bot play each other.

The command `pokearena tune` plays local matches of `arena.matches`.
"""

"""Tune the parameters of a bot by SPSA: perturbed copies of the bot play each other.

The command `pokearena tune` plays local matches of `arena.matches`.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.matches`, `arena.ratings`, `arena.store`
and `arena.system`. Used by `arena.cli`.
"""

"""Compute Elo, strength, SPRT, standings and crosstables as pure functions of closed matches.

Uses no other package of the arena. Used by `arena.cli`, `arena.formats`, `arena.ladders`,
`arena.matches`, `arena.models`, `arena.records`, `arena.services`, `arena.store`,
`arena.submissions`, `arena.tournaments` and `arena.web`.
"""

"""Compute the next matches of a tournament from its history.

The formats are round robin, gauntlet, Swiss, knockout, ladder and SPRT.

Uses `arena.config`, `arena.errors` and `arena.ratings`. Used by `arena.cli`, `arena.ladders`,
`arena.records`, `arena.store`, `arena.submissions`, `arena.tournaments` and `arena.web`.
"""

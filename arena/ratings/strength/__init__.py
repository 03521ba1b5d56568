"""Fit strengths to all matches of a ladder by maximum a posteriori (Bradley-Terry and
Plackett-Luce), with standard errors.

Uses `arena.ratings.meetings` and `arena.ratings.scale`. Used by `arena.cli`, `arena.ladders` and
`arena.ratings.standings`.
"""

"""Fit strengths to all matches of a ladder by maximum a posteriori, with standard errors.

The models are Bradley-Terry and Plackett-Luce.

Uses `arena.ratings.meetings` and `arena.ratings.scale`. Used by `arena.cli`, `arena.ladders` and
`arena.ratings.standings`; `arena.formats` uses its settings.
"""

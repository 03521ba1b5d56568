"""Derive explanations, scores and data sets from match records, and recompute results.

Uses `arena.bots`, `arena.errors`, `arena.formats`, `arena.ladders`, `arena.presentation`,
`arena.ratings`, `arena.store`, `arena.system` and `arena.tournaments`. Used by `arena.cli`,
`arena.matches`, `arena.services`, `arena.submissions` and `arena.web`.
"""

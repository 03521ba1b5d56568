"""Compute ladders from stored matches: standings, crosstables, rating histories and exports.

Uses `arena.errors`, `arena.formats`, `arena.presentation`, `arena.ratings` and `arena.store`. Used
by `arena.cli`, `arena.records`, `arena.services`, `arena.submissions`, `arena.tournaments` and
`arena.web`.
"""

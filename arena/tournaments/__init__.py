"""Schedule the matches of running tournaments, and estimate when these end.

Uses `arena.formats`, `arena.ratings` and `arena.store`. Used by `arena.cli`, `arena.queue`,
`arena.records` and `arena.web`.
"""

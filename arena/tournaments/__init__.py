"""Read tournament files, schedule the matches of running tournaments, and estimate their end.

Uses `arena.config`, `arena.errors`, `arena.formats`, `arena.presentation`, `arena.ratings`,
`arena.store` and `arena.system`. Used by `arena.cli`, `arena.queue`, `arena.records` and
`arena.web`.
"""

"""Read requested tournaments, schedule the matches of running tournaments, and estimate their end.

Uses `arena.errors`, `arena.formats`, `arena.ladders`, `arena.presentation`, `arena.ratings`,
`arena.store` and `arena.system`. Used by `arena.announcements`, `arena.cli`, `arena.queue`,
`arena.records`, `arena.submissions` and `arena.web`.
"""

"""Read requested tournaments, schedule the matches of running tournaments, and estimate their end.

Uses `arena.errors`, `arena.formats`, `arena.ladders`, `arena.ratings`, `arena.store` and
`arena.system`. Used by `arena.cli`, `arena.records`, `arena.services`, `arena.submissions` and
`arena.web`.
"""

"""Store tournaments: their lifecycle, schedule, rounds and counts of matches.

Uses `arena.config`, `arena.errors`, `arena.formats`, `arena.store.database`, `arena.store.ids`,
`arena.store.matches`, `arena.store.postgresql` and `arena.store.schema`. Used by `arena.cli`,
`arena.ladders`, `arena.records`, `arena.store.bots`, `arena.store.closed_counts`,
`arena.submissions`, `arena.tournaments` and `arena.web`.
"""

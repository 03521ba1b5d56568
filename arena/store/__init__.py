"""Store the state of the arena in a database, which is the single source of truth.

The package holds the schema, the migrations, the queries, the backup and the object storage.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.formats`, `arena.ratings`,
`arena.system` and `arena.tunnel`. Used by `arena.announcements`, `arena.cli`, `arena.ladders`,
`arena.matches`, `arena.queue`, `arena.records`, `arena.remote`, `arena.rl`, `arena.services`,
`arena.submissions`, `arena.tournaments`, `arena.tuning` and `arena.web`.
"""

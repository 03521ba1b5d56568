"""Store the state of the arena in a database, which is the single source of truth.

The package holds the schema, the migrations, the queries, the backup and the object storage.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.formats`, `arena.presentation`,
`arena.ratings` and `arena.system`. Used by `arena.cli`, `arena.ladders`, `arena.matches`,
`arena.mcp`, `arena.models`, `arena.records`, `arena.remote`, `arena.rl`, `arena.services`,
`arena.submissions`, `arena.tournaments` and `arena.web`.
"""

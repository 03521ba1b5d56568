"""Store versions of bots, their owners and builds, remote bots and submissions.

Uses `arena.bots`, `arena.errors`, `arena.store.database`, `arena.store.objects`,
`arena.store.postgresql`, `arena.store.schema` and `arena.store.tournaments`. Used by `arena.cli`,
`arena.ladders`, `arena.matches`, `arena.queue`, `arena.records`, `arena.remote`, `arena.services`,
`arena.store.backup_file`, `arena.store.closed_counts`, `arena.store.matches`, `arena.submissions`,
`arena.tournaments` and `arena.web`.
"""

"""Store matches: their specification, state transitions, games, results and faults.

Uses `arena.errors`, `arena.formats`, `arena.presentation`, `arena.ratings`, `arena.store.bots`,
`arena.store.database`, `arena.store.objects`, `arena.store.postgresql`, `arena.store.schema` and
`arena.system`. Used by `arena.cli`, `arena.ladders`, `arena.matches`, `arena.queue`,
`arena.records`, `arena.remote`, `arena.services`, `arena.store.consistency`, `arena.store.gauges`,
`arena.store.tournaments`, `arena.submissions`, `arena.tournaments` and `arena.web`.
"""

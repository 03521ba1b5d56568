"""Play one match: the attempt, its lease, and its tables against a referee.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.presentation`,
`arena.ratings`, `arena.store`, `arena.system` and `arena.tunnel`. Used by `arena.cli`,
`arena.services`, `arena.submissions`, `arena.tuning` and `arena.web`.
"""

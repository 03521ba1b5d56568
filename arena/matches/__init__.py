"""Play one match: the attempt, its lease, and its tables against a referee.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.presentation`,
`arena.remote`, `arena.store` and `arena.system`. Used by `arena.cli`, `arena.services`,
`arena.submissions`, `arena.tuning` and `arena.web`.
"""

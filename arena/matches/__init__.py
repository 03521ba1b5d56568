"""Play one match: the attempt, its lease, and its tables against a referee.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.models`, `arena.presentation`,
`arena.ratings`, `arena.records`, `arena.store` and `arena.system`. Used by `arena.cli`,
`arena.mcp`, `arena.services`, `arena.submissions` and `arena.web`.
"""

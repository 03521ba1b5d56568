"""Commands for bots and owners: `bot`, `new`, `owner`.

Uses `arena.bots`, `arena.cli.errors`, `arena.cli.ladders`, `arena.cli.lookup`, `arena.cli.options`,
`arena.cli.output`, `arena.cli.workspace`, `arena.errors`, `arena.ladders`, `arena.remote`,
`arena.store` and `arena.tournaments`. Used by `arena.cli.develop`, `arena.cli.matches` and
`arena.cli.tournaments`.
"""

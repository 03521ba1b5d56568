"""Commands for ladders: `standings`, `ladder`, `matrix`, `compare`, `sprt`, `export`.

Uses `arena.cli.errors`, `arena.cli.game_options`, `arena.cli.lookup`, `arena.cli.options`,
`arena.cli.output`, `arena.cli.workspace`, `arena.ladders`, `arena.ratings`, `arena.records` and
`arena.store`. Used by `arena.cli.bots`, `arena.cli.tournaments` and `arena.cli.watch`.
"""

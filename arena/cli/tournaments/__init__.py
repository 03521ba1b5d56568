"""Commands for tournaments: `tournament` and `demo`.

Uses `arena.bots`, `arena.cli.bots`, `arena.cli.errors`, `arena.cli.game_options`,
`arena.cli.ladders`, `arena.cli.lookup`, `arena.cli.options`, `arena.cli.output`,
`arena.cli.services`, `arena.cli.workspace`, `arena.errors`, `arena.formats`, `arena.ladders`,
`arena.ratings`, `arena.records`, `arena.services`, `arena.store`, `arena.system`,
`arena.tournaments` and `arena.web`. No other package uses it.
"""

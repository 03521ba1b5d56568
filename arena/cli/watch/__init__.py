"""The command `watch`: show the live arena in a terminal.

Uses `arena.cli.errors`, `arena.cli.key_input`, `arena.cli.ladders`, `arena.cli.options`,
`arena.cli.output`, `arena.cli.services`, `arena.cli.workspace`, `arena.errors`,
`arena.presentation`, `arena.store` and `arena.web`. No other package uses it.
"""

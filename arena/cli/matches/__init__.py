"""Commands for single matches: `play`, `replay`, `verify`, `logs`, `why`.

Uses `arena.bots`, `arena.cli.bots`, `arena.cli.errors`, `arena.cli.game_options`,
`arena.cli.key_input`, `arena.cli.options`, `arena.cli.output`, `arena.cli.services`,
`arena.cli.workspace`, `arena.matches`, `arena.presentation`, `arena.records` and `arena.store`.
Used by `arena.cli.develop`.
"""

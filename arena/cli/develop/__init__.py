"""Commands for bot authors and developers: `rules`, `test`, `ask`, `bench`, `doctor`.

Uses `arena.bots`, `arena.cli.bots`, `arena.cli.errors`, `arena.cli.game_options`,
`arena.cli.matches`, `arena.cli.options`, `arena.cli.output`, `arena.cli.services`,
`arena.cli.workspace`, `arena.config`, `arena.errors`, `arena.events`, `arena.matches`,
`arena.presentation`, `arena.queue`, `arena.store`, `arena.submissions` and `arena.system`. No other
package uses it.
"""

"""Commands for operators: `serve`, `web`, `worker`, `referee`, `metrics`, `db`.

Uses `arena.cli.errors`, `arena.cli.options`, `arena.cli.output`, `arena.cli.workspace`,
`arena.config`, `arena.errors`, `arena.queue`, `arena.records`, `arena.services`, `arena.store`,
`arena.submissions`, `arena.system` and `arena.web`. Used by `arena.cli.develop`,
`arena.cli.matches`, `arena.cli.tournaments` and `arena.cli.watch`.
"""

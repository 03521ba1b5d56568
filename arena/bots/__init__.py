"""Find, build and store bots, and run the bot processes of one table.

Uses `arena.config`, `arena.errors`, `arena.system` and `arena.tunnel`. Used by `arena.cli`,
`arena.matches`, `arena.queue`, `arena.records`, `arena.remote`, `arena.rl`, `arena.services`,
`arena.store`, `arena.submissions`, `arena.tuning` and `arena.web`.
"""

"""Find, build and store bots, and run the bot processes of one table.

Uses `arena.config`, `arena.errors` and `arena.system`. Used by `arena.cli`, `arena.matches`,
`arena.models`, `arena.records`, `arena.remote`, `arena.rl`, `arena.services`, `arena.store`,
`arena.submissions` and `arena.web`.
"""

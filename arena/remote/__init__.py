"""Connect bots on their authors' machines to the arena: connector, relay, tunnel.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.queue`, `arena.store` and
`arena.system`. Used by `arena.bots`, `arena.cli`, `arena.matches` and `arena.store`.
"""

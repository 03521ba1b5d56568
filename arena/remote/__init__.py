"""Connect bots on their authors' machines to the arena: connector and relay.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.queue`, `arena.store`,
`arena.system` and `arena.tunnel`. Used by `arena.cli`.
"""

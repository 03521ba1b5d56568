"""Connect bots on their authors' machines to the arena: connector and relay.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.services`, `arena.store` and
`arena.system`. Used by `arena.cli`.
"""

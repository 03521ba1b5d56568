"""Tools for agents by the Model Context Protocol; the package `mcp` is the extra `mcp`.

Uses `arena.matches`, `arena.presentation`, `arena.store` and `arena.system`. Used by `arena.cli`
and `arena.web`.
"""

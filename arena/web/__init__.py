"""Serve the arena's pages and its HTTP API, and export tournaments as static sites.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.formats`, `arena.ladders`,
`arena.matches`, `arena.mcp`, `arena.models`, `arena.presentation`, `arena.ratings`,
`arena.records`, `arena.services`, `arena.store`, `arena.submissions`, `arena.system` and
`arena.tournaments`. Used by `arena.cli`.
"""

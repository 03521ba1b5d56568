"""Utilities for processes, files and Redis metrics, independent of games and bots.

Uses `arena.errors`. Used by `arena.api_client`, `arena.bots`, `arena.cli`, `arena.config`,
`arena.matches`, `arena.mcp`, `arena.models`, `arena.records`, `arena.remote`, `arena.services`,
`arena.store`, `arena.submissions`, `arena.tournaments` and `arena.web`.
"""

"""Publish events of matches over Redis (docs/feed.md), count incidents there, and restart
background work after failures.

Uses `arena.system`. Used by `arena.cli`, `arena.matches`, `arena.queue`, `arena.remote`,
`arena.services` and `arena.web`.
"""

"""Publish match events over Redis (docs/feed.md), count incidents, and restart background work.

Incidents are failures of the services, counted in Redis. Uses `arena.system`. Used by `arena.cli`,
`arena.matches`, `arena.queue`, `arena.remote`, `arena.services` and `arena.web`.
"""

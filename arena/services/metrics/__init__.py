"""Collect the metrics of an arena from the store and Redis, and serve them to Prometheus.

Uses `arena.errors`, `arena.events`, `arena.queue`, `arena.ratings`, `arena.store` and
`arena.system`. Used by `arena.cli`.
"""

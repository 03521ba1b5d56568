"""Distribute matches to workers: RQ jobs, the worker, and the sweeper that enqueues due matches;
and start the embedded Redis.

Uses `arena.config`, `arena.errors`, `arena.events`, `arena.store`, `arena.system` and
`arena.tournaments`. Used by `arena.cli`, `arena.remote`, `arena.services` and `arena.web`.
"""

"""Distribute matches to workers and start the embedded Redis.

Contains the match queue of RQ jobs, the worker, and the sweeper that enqueues due matches. Uses
`arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.store`, `arena.system` and
`arena.tournaments`. Used by `arena.cli`, `arena.remote`, `arena.services` and `arena.web`.
"""

"""Distribute matches to workers and start the embedded Redis.

Contains the match queue of RQ jobs, the worker, and the sweeper that enqueues due matches.
"""

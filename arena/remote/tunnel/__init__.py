"""Carry streams between a worker's machine and the relay's machine.

Uses `arena.errors` and `arena.system`. Used by `arena.bots`, `arena.cli`, `arena.matches` and
`arena.remote.relay`.
"""

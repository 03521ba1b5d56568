"""Run a bot on its author's machine and answer the relay's requests with it.

Uses `arena.bots` and `arena.system`. Used by `arena.cli`.
"""

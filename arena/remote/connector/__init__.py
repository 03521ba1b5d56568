"""Run a bot on its author's machine and answer the relay's questions with it.

Uses `arena.bots` and `arena.system`. Used by `arena.cli`.
"""

"""Presentation of games: frames of replays, narration, wording, and encodings for training.

Uses `arena.errors`. Used by `arena.cli`, `arena.ladders`, `arena.matches`, `arena.mcp`,
`arena.records`, `arena.rl`, `arena.store`, `arena.submissions` and `arena.web`.
"""

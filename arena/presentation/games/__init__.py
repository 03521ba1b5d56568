"""Render the table of each game, and encode views and actions for reinforcement learning.

Contains one module per game, and one registry with a default. Uses `arena.presentation.elements`.
Used by `arena.presentation.live_position`, `arena.presentation.record_frames` and `arena.rl`.
"""

"""Render the table of each game, and encode its views and actions as numbers for reinforcement
learning; one module per game, and one registry with a default.

Uses `arena.presentation.elements`. Used by `arena.presentation.live_position`,
`arena.presentation.record_frames` and `arena.rl`.
"""

"""How games are shown and encoded: rendering, phrases, encodings and clips.

Uses `arena.errors`. Used by `arena.cli`, `arena.ladders`, `arena.matches`, `arena.records`,
`arena.rl`, `arena.tournaments` and `arena.web`.
"""

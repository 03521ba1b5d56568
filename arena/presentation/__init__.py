"""How games are shown and encoded: rendering, phrases, encodings and clips.

Uses no other package of the arena. Used by `arena.cli`, `arena.ladders`, `arena.records`,
`arena.rl`, `arena.store`, `arena.submissions`, `arena.tournaments` and `arena.web`.
"""

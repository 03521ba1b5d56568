"""How games are shown and encoded: rendering, phrases, encodings, clips and names of forms.

Uses no other package of the arena. Used by `arena.cli`, `arena.ladders`, `arena.records`,
`arena.rl`, `arena.store`, `arena.submissions`, `arena.tournaments` and `arena.web`.
"""

"""Present games: table rendering, phrases, text, point clips, and the names of forms.

Uses no other package of the arena. Used by `arena.cli`, `arena.ladders`, `arena.records`,
`arena.rl`, `arena.store`, `arena.submissions` and `arena.web`.
"""

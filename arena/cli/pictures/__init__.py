"""Draw positions of games as text: one module per game, and one registry with a default.

Uses no other package of the arena. Used by `arena.cli.develop` and `arena.cli.matches`.
"""

"""Analysis of play: win expectations, costly decisions and luck, from playouts of an engine.

Uses the engine of a house bot (`engine`), the rules and `referee.replay`. The page
docs/reference/analysis.md explains the figures.
"""

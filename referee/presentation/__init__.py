"""How games are shown: positions, actions and histories as elements and as text.

Pure: uses the rules and nothing from the arena. The referee writes questions as text with it; the
terminal and the pages of the arena show games with it.
"""

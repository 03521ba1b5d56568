"""Cards, dominoes, poker hands and chance, which several games share.

Uses the standard library only. Used by the games and their tests, by `referee` for the seeds of
boards, and by `arena.presentation` and the house bots.
"""

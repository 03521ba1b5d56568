"""Cards, dominoes, poker hands, chance and errors with a code, which several games share.

Uses the standard library only. Used by the games and their tests, by `referee` for the seeds of
boards, and by `arena.presentation` and the house bots. Errors of `arena` derive from `CodedError`.
"""

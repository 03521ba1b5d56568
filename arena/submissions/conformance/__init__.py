"""Examine whether a bot obeys the protocol in every game and form that it claims.

Uses `arena.bots`, `arena.errors`, `arena.matches`, `arena.presentation` and `arena.store`. Used by
`arena.cli`, `arena.submissions.__main__` and `arena.submissions.pipeline`.
"""

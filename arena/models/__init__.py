"""The model proxy: hosted bots reach the language models of `models.toml`, and nothing else.

Reads `models.toml`, translates requests and replies, and serves an endpoint to each bot at a table.
Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.ratings`, `arena.store` and
`arena.system`. Used by `arena.cli`, `arena.matches`, `arena.submissions`
and `arena.web`.
"""

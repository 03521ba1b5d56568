"""Run the long-running processes of an arena: supervisor, workers, relay, web server and metrics.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.ladders`, `arena.matches`,
`arena.ratings`, `arena.records`, `arena.store`, `arena.submissions`, `arena.system` and
`arena.tournaments`. Used by `arena.cli`, `arena.remote` and `arena.web`.
"""

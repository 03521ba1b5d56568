"""Run the long-running processes of an arena: supervisor, workers, relay, web server and metrics.

Uses `arena.announcements`, `arena.bots`, `arena.config`, `arena.errors`, `arena.events`,
`arena.ladders`, `arena.matches`, `arena.queue`, `arena.ratings`, `arena.records`, `arena.store`,
`arena.submissions` and `arena.system`. Used by `arena.cli` and `arena.web`.
"""

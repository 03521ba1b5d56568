"""Hold the web server's state: snapshots of the store, caches, and events of open matches.

Uses `arena.errors`, `arena.events`, `arena.formats`, `arena.ladders`, `arena.presentation`,
`arena.ratings`, `arena.services`, `arena.store`, `arena.submissions`, `arena.tournaments` and
`arena.web.charts`. Used by `arena.cli`, and by all other modules of `arena.web`.
"""

"""Stream changes to clients: live updates of pages, and the event feed for programs.

Uses `arena.errors`, `arena.events`, `arena.ratings`, `arena.store` and `arena.web.data`. Used by
`arena.web.app` and `arena.web.serving`.
"""

"""Answer HTTP requests: negotiation, rendering, caching, limits, live updates, uploads, downloads.

Uses `arena.config`, `arena.errors`, `arena.events`, `arena.ratings`, `arena.records`,
`arena.store`, `arena.submissions`, `arena.system`, `arena.web.data`, `arena.web.page`,
`arena.web.pages` and `arena.web.wording`. Used by `arena.web.app`, `arena.web.openapi` and
`arena.web.static_site`.
"""

"""Compute each page, as a value, from the request and the web server's state.

Uses `arena.errors`, `arena.formats`, `arena.ladders`, `arena.presentation`, `arena.ratings`,
`arena.records`, `arena.store`, `arena.tournaments`, `arena.web.charts`, `arena.web.data`,
`arena.web.openapi`, `arena.web.page`, `arena.web.paging` and `arena.web.wording`. Used by
`arena.cli`, `arena.web.routes`, `arena.web.serving` and `arena.web.static_site`.
"""

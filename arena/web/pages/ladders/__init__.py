"""Compute the pages of a ladder: its standings, its crosstable, and comparisons of two versions.

Uses `arena.ladders`, `arena.ratings`, `arena.store`, `arena.web.charts`, `arena.web.data`,
`arena.web.page`, `arena.web.paging` and `arena.web.wording`. Used by `arena.cli.watch`,
`arena.web.pages` and `arena.web.routes`.
"""

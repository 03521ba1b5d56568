"""Write tournaments as bundles of files, and audit bundles and stores (docs/reference/bundle.md).

Uses `arena.errors`, `arena.formats`, `arena.ladders`, `arena.presentation`, `arena.ratings`,
`arena.records.rebuilt_results`, `arena.records.redaction`, `arena.store`, `arena.system` and
`arena.tournaments`. Used by `arena.cli` and `arena.web`.
"""

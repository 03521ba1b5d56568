"""Write tournaments as bundles of plain files (docs/bundle.md), and audit bundles and stores.

Uses `arena.errors`, `arena.formats`, `arena.ladders`, `arena.presentation`, `arena.ratings`,
`arena.records.rebuilt_results`, `arena.records.redaction`, `arena.store`, `arena.system` and
`arena.tournaments`. Used by `arena.cli` and `arena.web`.
"""

"""Process bots that owners push over the network: admission, build, examination and registration.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.formats`, `arena.ladders`,
`arena.matches`, `arena.models`, `arena.presentation`, `arena.ratings`, `arena.records`,
`arena.store`, `arena.system` and `arena.tournaments`. Used by `arena.cli`, `arena.services`
and `arena.web`.
"""

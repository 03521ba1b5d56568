"""Help with processes, files and Redis figures; this package contains nothing about games or bots.

Uses no other package of the arena. Used by `arena.bots`, `arena.cli`, `arena.config`,
`arena.events`, `arena.matches`, `arena.queue`, `arena.records`, `arena.remote`, `arena.services`,
`arena.store`, `arena.submissions` and `arena.web`.
"""

"""Announcements of results and changes for people: the entries of feeds, and webhooks.

An announcement is derived from the rows of the store, which have it from the commit on. Uses
`arena.errors`, `arena.events`, `arena.formats`, `arena.ladders`, `arena.store` and
`arena.tournaments`. Used by `arena.cli`, `arena.services` and `arena.web`.
"""

"""Announcements of results and changes for people: the entries of feeds, and webhooks.

An announcement is derived from the rows of the store, which have it from the commit on.
"""

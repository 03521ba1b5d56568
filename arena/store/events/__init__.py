"""Publish match events, count incidents, and restart background work.

docs/reference/feed.md describes the events, which are published over Redis. Incidents are failures
of the services, counted in Redis.
"""

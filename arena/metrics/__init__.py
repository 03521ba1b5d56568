"""Figures for those who watch over an arena, as Prometheus reads them.

They are read from the store and from Redis when somebody asks, never pushed: the store is the
truth, so the figures of any number of workers on any number of machines are had at one place.
"""

"""Ratings: pure functions of closed matches, one module a way of rating.

Nothing here is ever stored that cannot be computed again from the matches, and no result depends
on the order in which the matches were played or are given.
"""

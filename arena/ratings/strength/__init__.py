"""Fit strengths to all matches of a ladder by maximum a posteriori, with standard errors.

The models are Bradley-Terry and Plackett-Luce.
"""

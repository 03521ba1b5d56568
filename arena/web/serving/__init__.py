"""Answer HTTP requests: negotiation, rendering, caching and limits.

Also contains live updates, uploads, downloads, and the requests of people who play.
"""

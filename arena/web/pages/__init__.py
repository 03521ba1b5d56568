"""Compute each page, as a value, from the request and the web server's state."""

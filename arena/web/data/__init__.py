"""Hold the web server's state: snapshots of the store, caches, and events of open matches."""

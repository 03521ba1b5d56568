"""The store: the one place where the truth of the arena is kept (design, section 6)."""

"""The pages: each a function from what is asked, and what is known, to a `Page`."""

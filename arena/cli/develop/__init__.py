"""Commands for bot authors and developers.

These are `ask`, `bench`, `completion`, `config`, `doctor`, `rules`, `test` and `tune`.
"""

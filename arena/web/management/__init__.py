"""Pages and API operations with which organisers manage an arena and owners their bots.

Each operation is one `Action`, from which its form, its endpoint and its OpenAPI entry are made. It
calls the functions of `arena.tournaments`, `arena.submissions` and `arena.store` that the command
line calls.
"""

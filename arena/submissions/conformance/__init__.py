"""Examine whether a bot obeys the protocol in every game and form that it claims."""

"""Commands for tournaments: `tournament` and `demo`."""

"""Commands for bots and owners: `bot`, `new`, `owner`, `organiser`."""

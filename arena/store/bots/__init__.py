"""Store versions of bots, their owners and builds, remote bots and submissions."""

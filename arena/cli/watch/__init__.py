"""The command `watch`: show the live arena in a terminal."""

"""The lessons of the built-in games: five positions per game with arranged cards."""

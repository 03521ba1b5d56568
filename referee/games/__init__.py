"""Rules of the games, as pure values without access to clocks, files or the network."""

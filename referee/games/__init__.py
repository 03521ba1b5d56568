"""The rules, as pure values: nothing here reads a clock, a file or the network."""

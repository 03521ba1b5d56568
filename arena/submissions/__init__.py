"""Bots that owners send over the network, on their way to being versions."""

"""Goofspiel, a game of pokearena: rules (`game`) and presentation."""

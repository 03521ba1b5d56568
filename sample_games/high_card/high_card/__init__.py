"""High Card, a game of pokearena: rules (`game`) and presentation."""

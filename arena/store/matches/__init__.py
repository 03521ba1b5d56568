"""Store matches: their specification, state transitions, games, results and faults."""

"""Store tournaments: their lifecycle, schedule, rounds and counts of matches."""

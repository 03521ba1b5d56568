"""Commands for single matches: `play`, `replay`, `verify`, `logs`, `why`, `analyse`."""

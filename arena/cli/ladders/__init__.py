"""Commands for ladders: `standings`, `ladder`, `matrix`, `compare`, `sprt`, `export`."""

"""The arena in the browser: pages drawn here, which move while matches close."""

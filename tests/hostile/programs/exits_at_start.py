"""Exits before it listens."""

import sys

sys.exit(3)

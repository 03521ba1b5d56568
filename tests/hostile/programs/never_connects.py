"""Runs, and never listens."""

import time

time.sleep(600)

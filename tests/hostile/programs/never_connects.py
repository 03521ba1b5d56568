"""Runs without listening."""

import time

time.sleep(600)

"""Replaces its socket by a link to a socket of the machine."""

import json
import os
import time

from wire import path

with open("targets.json") as file:
    os.symlink(json.load(file)["referee"], path())
time.sleep(600)

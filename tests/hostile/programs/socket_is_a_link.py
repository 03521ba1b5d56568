"""Puts a link to a socket of the machine in place of its own socket"""

import json
import os
import time

from wire import path

with open("targets.json") as file:
    os.symlink(json.load(file)["referee"], path())
time.sleep(600)

"""Searches for the sockets of other seats and tries to connect to them."""

import glob
import json
import os
import socket
from pathlib import Path

from honest import attempt, once, play

targets = json.loads(Path("targets.json").read_text())


def connect(path: str) -> object:
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(2)
        channel.connect(path)
        return "connected"


def act() -> None:
    address = os.environ["POKEARENA_ADDRESS"].removeprefix("unix:")
    base = targets["sockets"]
    paths = [path for path in glob.glob(f"{base}/pokearena-bot-*/*") if path != address]
    for number, path in enumerate(paths):
        attempt(**{f"socket_{number}": lambda path=path: connect(path)})
    folders = [path for path in glob.glob(f"{base}/pokearena-bot-*") if path not in address]
    for number, folder in enumerate(folders):
        attempt(**{f"folder_{number}": lambda folder=folder: os.listdir(folder) or "empty"})
    print(f"looked at {len(paths)} sockets in {len(folders)} folders")


play(once(act))

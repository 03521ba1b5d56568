"""Tries to read files of the other bot, the arena and the machine."""

import json
import os
import sys
from pathlib import Path

from honest import attempt, once, play

targets: dict[str, str] = json.loads(Path("targets.json").read_text())["files"]


OWN = (os.getcwd(), sys.prefix, sys.base_prefix, sys.executable)


def read(path: str) -> object:
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return file.read(100)
    # Parent folders of the bot's own files are visible.
    strange = [
        name
        for name in os.listdir(path)
        if not any(f"{path_of_bot}/".startswith(f"{path}/{name}/") for path_of_bot in OWN)
    ]
    return strange or refused(path)


def refused(path: str) -> object:
    raise PermissionError(f"nothing of {path} can be seen but its own")


def act() -> None:
    attempt(**{name: lambda path=path: read(path) for name, path in targets.items()})
    attempt(
        shadow=lambda: read("/etc/shadow"),
        kernel_memory=lambda: read("/dev/mem"),
        disk=lambda: read("/dev/sda"),
        parent_environment=lambda: read(f"/proc/{os.getppid()}/environ") or refused("it"),
        parent_memory=lambda: read(f"/proc/{os.getppid()}/mem"),
    )


play(once(act))

"""Tries to write to its own version, the runtime, the arena's data and the system."""

import json
import os
import sys
from pathlib import Path

from honest import attempt, once, play

targets: dict[str, str] = json.loads(Path("targets.json").read_text())["folders"]


def write(folder: str) -> object:
    path = os.path.join(folder, "written-by-a-bot")
    with open(path, "w") as file:
        file.write("here")
    return path


def act() -> None:
    attempt(**{name: lambda path=path: write(path) for name, path in targets.items()})
    attempt(
        own_version=lambda: write("."),
        own_program=lambda: Path("bot.py").write_text(""),
        runtime=lambda: write(sys.prefix),
        system=lambda: write("/usr/lib"),
        etc=lambda: write("/etc"),
        release_agent=lambda: write("/sys/fs/cgroup"),
        chmod=lambda: os.chmod("bot.py", 0o777),
        utime=lambda: os.utime("bot.py"),
        link=lambda: os.link("bot.py", "linked.py"),
        xattr=lambda: os.setxattr("bot.py", "user.mark", b"x"),
    )


play(once(act))

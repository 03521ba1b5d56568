"""Searches the environments of all visible processes for the arena's secrets."""

import os

from honest import once, play


def act() -> None:
    secret = "MARK" + "SECRET"
    try:
        found_there = os.listdir("/proc")
    except OSError:
        found_there = ["1", str(os.getppid())]
    for pid in filter(str.isdigit, found_there):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                readable = secret.encode() in file.read()
        except OSError:
            continue
        if readable:
            print(f"got the secret from {pid}")
    print(f"searched, own environment: {sorted(os.environ)}")


play(once(act))

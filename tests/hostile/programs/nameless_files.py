"""Fills its disk with unlinked files beside its socket."""

import contextlib
import os
import time

from honest import once, play

MIB = 1 << 20


def act() -> None:
    address = os.environ["POKEARENA_ADDRESS"].removeprefix("unix:")
    folder = os.path.dirname(address)
    kept = []
    for number in range(40):
        with contextlib.suppress(OSError):
            if number % 2:
                path = os.path.join(folder, f"removed-{number}")
                kept.append(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
                os.unlink(path)
            else:
                kept.append(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
            for _ in range(16):
                os.write(kept[-1], bytes(MIB))
    time.sleep(600)


play(once(act))

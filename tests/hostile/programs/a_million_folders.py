"""Creates a million empty folders."""

import contextlib
import os
import tempfile
import time

from honest import once, play


def act() -> None:
    folder = tempfile.mkdtemp()
    for number in range(1_000_000):
        with contextlib.suppress(OSError):
            os.mkdir(os.path.join(folder, str(number)))
    time.sleep(600)


play(once(act))

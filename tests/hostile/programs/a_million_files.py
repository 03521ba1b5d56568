"""Creates a million files."""

import contextlib
import os
import tempfile
import time

from honest import once, play


def act() -> None:
    folder = tempfile.mkdtemp()
    for number in range(1_000_000):
        with contextlib.suppress(OSError):
            os.close(os.open(os.path.join(folder, str(number)), os.O_CREAT | os.O_WRONLY))
    time.sleep(600)


play(once(act))

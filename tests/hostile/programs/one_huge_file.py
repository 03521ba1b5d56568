"""Writes a single file without end."""

import os
import signal
import tempfile

from honest import once, play


def act() -> None:
    with open(os.path.join(tempfile.mkdtemp(), "huge"), "wb") as file:
        while True:
            file.write(bytes(1 << 20))


# Python ignores SIGXFSZ by default; the signal then becomes an OSError.
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
play(once(act))

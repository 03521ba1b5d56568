"""Tries to allow core dumps, prints their limit, and aborts so that one is written."""

import contextlib
import os
import resource

from honest import once, play


def act() -> None:
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("core limit", *resource.getrlimit(resource.RLIMIT_CORE), flush=True)
    os.abort()


play(once(act))

"""Command line interface: `pokearena NOUN VERB`, and bare verbs for frequent tasks.

Uses `arena.api_client`, `arena.bots`, `arena.config`, `arena.errors`, `arena.formats`,
`arena.ladders`, `arena.matches`, `arena.mcp`, `arena.models`, `arena.presentation`,
`arena.ratings`, `arena.records`, `arena.remote`, `arena.services`, `arena.store`,
`arena.submissions`, `arena.system`, `arena.tournaments` and `arena.web`. No other package uses it.

Data goes to standard output, progress and hints to standard error. The last line, on standard
error, is the next command to type. `main` maps every user-facing error to one sentence and an exit
status. Functions of this package raise CommandError for what the user can correct. The module of a
command is imported only when that command is called.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import Final

_IMPORTED_OBJECTS: Final = 250_000
"""More objects than the imports of any command create."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (default: that of this process) and return the exit status."""
    # Many container images set it. Every process of an arena would then compile all its modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    _postpone_garbage_collection()
    from arena.cli import run

    return run.run(argv)


def _postpone_garbage_collection() -> None:
    """Do not search the modules for garbage while they are imported and when the process ends.

    A quarter of the time of a short command. After the first collection, which only commands that
    run for longer reach, the usual thresholds apply again.
    """
    usual = gc.get_threshold()

    def restore(phase: str, details: dict[str, int]) -> None:
        gc.callbacks.remove(restore)
        gc.set_threshold(*usual)

    gc.callbacks.append(restore)
    gc.set_threshold(_IMPORTED_OBJECTS)
    # Frozen objects are not examined. Functions registered later run earlier.
    atexit.register(gc.freeze)

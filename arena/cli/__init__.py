"""Command line interface: `pokearena NOUN VERB`, and bare verbs for frequent tasks.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.formats`, `arena.ladders`,
`arena.matches`, `arena.presentation`, `arena.queue`, `arena.ratings`, `arena.records`,
`arena.remote`, `arena.services`, `arena.store`, `arena.submissions`, `arena.system`,
`arena.tournaments` and `arena.web`. No other package uses it.

Data goes to standard output, progress and hints to standard error. The last line, on standard
error, is the next command to type. `main` maps every user-facing error to one sentence and an exit
status. The module of a command is imported only when that command is called.
"""

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (default: that of this process) and return the exit status."""
    # Many container images set it. Every process of an arena would then compile all its modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    from arena.cli import run

    return run.run(argv)

"""The command line: `pokearena NOUN VERB`, and bare verbs for the daily things.

Uses `arena.bots`, `arena.config`, `arena.errors`, `arena.events`, `arena.formats`,
`arena.ladders`, `arena.matches`, `arena.presentation`, `arena.queue`, `arena.ratings`,
`arena.records`, `arena.remote`, `arena.services`, `arena.store`, `arena.submissions`,
`arena.system`, `arena.tournaments` and `arena.web`. No other package uses it.

Data goes to standard output, progress and hints to standard error. The last line, on standard
error, is the next command to type. `main` maps every error a person can meet to one sentence and
an exit status; a command's own module is imported only when that command is called.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line; by default that of this process. Returns the exit status."""
    from arena.cli import run

    return run.run(argv)

"""What ends a command, and the exit statuses."""

from typing import Final

OK: Final = 0
FAILED: Final = 1
"""What was asked for failed: a bot faulted, a record is not true."""
USAGE: Final = 2
"""What was asked for cannot be asked for: an unknown option, game, bot or match."""
UNREACHABLE: Final = 3
"""Redis, the database, a referee or a bot cannot be reached."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""Whoever reads standard output has closed it."""


class CommandError(Exception):
    """What ends a command: a sentence, its exit status, and what to type next, if anything."""

    def __init__(self, sentence: str, status: int = FAILED, advice: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.advice = _typed(advice) if advice else ""


def _typed(command: str) -> str:
    from arena.cli.advice import typed

    return typed(command)

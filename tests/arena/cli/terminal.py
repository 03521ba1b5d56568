"""What tests see of a command line that has run."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """What a command line printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on standard error: what to type next."""
        return self.err.rstrip().splitlines()[-1]


Cli = Callable[..., Said]
Write = Callable[[str, str], str]

"""Places by name at which a process can be made to die, for the fault suite (tests/faults).

    POKEARENA_FAILPOINT=NAME[:N][@FILE]

The N-th time (by default the first) that a process reaches the point NAME, it kills itself with
SIGKILL, as if the power had gone for it alone. With a FILE it does so only if the file is there,
and takes it away first: so of many processes exactly one dies, once, and whoever made the file can
see that the point was reached. Without the variable a point costs one comparison.
"""

import os
import signal
from typing import Final

VARIABLE: Final = "POKEARENA_FAILPOINT"

TRANSACTIONS: Final = (
    "upgrade",
    "add_version",
    "keep_crate",
    "trust_crate",
    "own",
    "add_owner",
    "renew_owner",
    "remove_owner",
    "add_remote",
    "presence",
    "give_up",
    "retire",
    "schedule",
    "pause",
    "resume",
    "cancel",
    "join",
    "withdraw",
    "extend",
    "close",
    "lease",
    "renew",
    "commit_game",
    "closing_game",
    "release",
    "lapse",
    "void",
    "quarantine",
    "lift",
    "rebuild",
    "restore",
    "submit",
    "take_up",
    "step",
    "decide",
)
"""Everything that is written to the store, in one transaction each."""

EDGES: Final = ("begin", "written", "committed")
"""Before a transaction begins; when all is written, before COMMIT; after COMMIT."""

HINTS: Final = ("hint.put", "hint.taken", "hint.followed", "hint.dropped")
"""A hint is about to be put, a worker has taken one, its work horse is about to follow it, and it
is about to be taken away. Only hints are in Redis, so what comes after each is the next one's."""

# The closing game begins as every game does.
NAMES: Final = (
    *(
        f"{transaction}.{edge}"
        for transaction in TRANSACTIONS
        for edge in EDGES
        if (transaction, edge) != ("closing_game", "begin")
    ),
    *HINTS,
)
"""Every point there is."""


class _Armed:
    """The point at which this process is to die, and how often it is to be passed before."""

    def __init__(self, text: str) -> None:
        named, _, self.file = text.partition("@")
        self.name, _, number = named.partition(":")
        self.left = int(number or 1)
        if self.name not in NAMES:
            raise ValueError(
                f"{VARIABLE}: there is no point {self.name!r}; see arena.system.failpoint"
            )

    def met(self) -> None:
        self.left -= 1
        if self.left != 0:
            return
        if self.file:
            try:
                os.unlink(self.file)
            except FileNotFoundError:
                return
        os.kill(os.getpid(), signal.SIGKILL)


_armed = _Armed(text) if (text := os.environ.get(VARIABLE)) else None


def reach(name: str) -> None:
    """The process is at this point; it dies here if it was told to."""
    if _armed is not None and _armed.name == name:
        _armed.met()


def edge(transaction: str, moment: str) -> None:
    """The process is at this edge of a transaction."""
    if _armed is not None:
        reach(f"{transaction}.{moment}")

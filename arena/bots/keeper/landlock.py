"""Landlock: files, ports and processes of others closed to a process by itself (landlock(7))."""

from __future__ import annotations

import errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arena.bots.keeper.order import Order


def enclose(order: Order) -> None:
    """Locks this process in; OSError if that is refused."""
    raise OSError(errno.ENOSYS, "Landlock is not used yet")

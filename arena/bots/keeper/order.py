"""What the owner orders a bot to be started with."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Order:
    """A "start" command."""

    __slots__ = ("argv", "cwd", "directory", "env", "limits")

    def __init__(self, said: dict[str, Any]) -> None:
        self.argv: list[str] = said["argv"]
        self.cwd: str = said["cwd"]
        self.env: dict[str, str] = said["env"]
        self.directory: str = said["directory"]
        self.limits: dict[str, int] = said["limits"]

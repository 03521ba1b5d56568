"""What the owner orders a bot to be started with."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Order:
    """A "start" command.

    ``level`` is one of "bubblewrap", "landlock" and "unsandboxed"; ``own`` is the folder or file
    that is the bot, ``read`` are the paths that it may read besides that and those of the system,
    ``listed`` are folders of which it may learn the names in them, and ``write`` are the paths that
    it may write to besides ``directory`` and its scratch space. ``network`` is whether it is left
    on the network of the machine, which some builds need.
    """

    __slots__ = (
        *("argv", "bwrap", "cwd", "directory", "env", "level", "limits"),
        *("listed", "network", "own", "read", "write"),
    )

    def __init__(self, said: dict[str, Any]) -> None:
        self.argv: list[str] = said["argv"]
        self.cwd: str = said["cwd"]
        self.env: dict[str, str] = said["env"]
        self.directory: str = said["directory"]
        self.limits: dict[str, int] = said["limits"]
        self.level: str = said["level"]
        self.bwrap: str = said.get("bwrap", "")
        self.network: bool = said.get("network", False)
        self.own: str = said.get("own", "")
        self.read: list[str] = said.get("read", [])
        self.listed: list[str] = said.get("listed", [])
        self.write: list[str] = said.get("write", [])

    @property
    def builds(self) -> bool:
        """Whether it is a build: no opponent plays meanwhile who could be told something."""
        return bool(self.write)

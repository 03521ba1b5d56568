"""The launcher's "start" command."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Order:
    """A "start" command.

    Attributes:
        level: "bubblewrap", "landlock" or "unsandboxed".
        own: the folder or file of the bot.
        read: paths that it may read in addition to ``own`` and those of the system.
        listed: folders whose names it may list.
        write: paths that it may write in addition to ``directory`` and its scratch space.
        network: whether it keeps the network of the machine, as some builds require.
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
        """Return whether it is a build. No opponents run then, so covert channels do not matter."""
        return bool(self.write)

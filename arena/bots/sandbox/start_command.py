"""The command that starts a bot in a sandbox."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

UNSANDBOXED = "unsandboxed"
BUBBLEWRAP = "bubblewrap"


class StartCommand:
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

    def __init__(self, fields: dict[str, Any]) -> None:
        self.argv: list[str] = fields["argv"]
        self.cwd: str = fields["cwd"]
        self.env: dict[str, str] = fields["env"]
        self.directory: str = fields["directory"]
        self.limits: dict[str, int] = fields["limits"]
        self.level: str = fields["level"]
        self.bwrap: str = fields.get("bwrap", "")
        self.network: bool = fields.get("network", False)
        self.own: str = fields.get("own", "")
        self.read: list[str] = fields.get("read", [])
        self.listed: list[str] = fields.get("listed", [])
        self.write: list[str] = fields.get("write", [])

    @property
    def builds(self) -> bool:
        """Return whether it is a build. No opponents run then, so covert channels do not matter."""
        return bool(self.write)

"""The command that starts a bot in a sandbox."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

UNSANDBOXED = "unsandboxed"
BUBBLEWRAP = "bubblewrap"


class StartCommand:
    """A "start" command. Its paths are those of the machine, apart from ``place``.

    Attributes:
        level: "bubblewrap", "landlock" or "unsandboxed".
        own: the folder or file of the bot.
        place: the path at which the bot sees ``own``, if it has its own view of the file system.
        read: paths that it may read in addition to ``own`` and those of the system.
        system: "/usr", or its parts if the data folder of the arena lies below it.
        listed: folders whose names it may list, without its own view of the file system.
        builds: whether it is a build, which may write to ``own``. No opponents run then, so covert
            channels do not matter.
        models: the socket of the bot's models; empty if it has none.
        network: whether it keeps the network of the machine, as some builds require.
    """

    __slots__ = (
        *("argv", "builds", "bwrap", "cwd", "directory", "env", "level", "limits"),
        *("listed", "models", "network", "own", "place", "read", "system"),
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
        self.place: str = fields.get("place", self.own)
        self.read: list[str] = fields.get("read", [])
        self.system: list[str] = fields.get("system", ["/usr"])
        self.listed: list[str] = fields.get("listed", [])
        self.models: str = fields.get("models", "")
        self.builds: bool = fields.get("builds", False)

    @property
    def write(self) -> list[str]:
        """Return the paths that it may write besides ``directory`` and its scratch space."""
        return [self.own] if self.builds else []

    def move(self, path: str) -> None:
        """Replace ``own`` by another path in the words of the command and the current folder."""
        self.argv = [_moved(word, self.own, path) for word in self.argv]
        self.cwd = _moved(self.cwd, self.own, path)


def _moved(word: str, old: str, new: str) -> str:
    if word == old:
        return new
    return f"{new}/{word.removeprefix(f'{old}/')}" if word.startswith(f"{old}/") else word

"""List the starter kits by language, with the properties that tests need."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
KITS = ROOT / "sample_bots"
OUT_OF_IDEAS = "out of ideas"
"""Message of the exception that the third bot raises."""


@dataclass(frozen=True)
class Language:
    name: str
    tools: tuple[str, ...]
    """Programs that building and running the kit requires."""
    random: str
    """The single file of the random bot."""
    greedy: str
    """The game of the kit's greedy bot."""
    third_bot: dict[str, str]
    """Files of a third bot, which are added to the kit before the build.

    The bot prints "thinking", and its function `choose` raises an exception with the message
    OUT_OF_IDEAS.
    """
    run: tuple[str, ...]
    """The command that runs the third bot in the folder."""

    @property
    def folder(self) -> Path:
        return KITS / self.name


def _languages() -> dict[str, Language]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Language(
            name, **{**table, "tools": tuple(table["tools"]), "run": tuple(table["run"])}
        )
        for name, table in tables.items()
    }


LANGUAGES = _languages()
"""The starter kits in languages.toml, by name."""
